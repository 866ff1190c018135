#include "changes/decisions.h"

#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "changes/look.h"
#include "changes/worktree.h"

namespace errand::changes {
namespace {

// `merged`: what is said of one that is.
std::optional<Done> decided_already(const Record& record, std::string_view merged = "") {
  if (record.state != "discarded" && record.state != "merged") return std::nullopt;
  return refused(record, {Code::conflict,
                          fmt::format("The task's changes are {} already{}.", record.state,
                                      record.state == "merged" ? merged : ""),
                          record.state});
}

// The end as it is now, where there is something to look at. Behind a test it is as it was before.
Status keep_end(const Order& order, Record& record) {
  if (record.is_held()) return {};
  if (!is_lost(record)) return keep_final(order, record);
  if (!record.end.empty()) return {};
  return fail(Code::not_found, "The task's own work tree is gone, and it has no end snapshot.", "lost");
}

// Files of its work tree that are not as the task left them, and are not taken: a test, or somebody, was there since.
std::vector<std::string> changed_later(const Order& order, const Record& record) {
  constexpr size_t named_max = 200;
  std::vector<std::string> names;
  if (order.order != "take" && record.aside_from.empty()) return names;  // The end is as it is now.
  const Result<Now> now = is_lost(record) ? fail(Code::not_found, "") : look_now(order, record, true, Whose::all);
  const Result<std::vector<ChangedFile>> files =
      now ? list_changes(Store::at(record.store), record.end, now->commit) : fail(Code::not_found, "");
  for (const ChangedFile& file : files.value_or(std::vector<ChangedFile>()))
    if (names.size() < named_max) names.push_back(file.path);
  return names;
}

void write_later(JsonOut& out, const std::vector<std::string>& later) {
  out.key("not_merged").array();
  for (const std::string& path : later) out.value(path);
  out.end();
}

Done mark(const Order& order, Record record) {
  record.before = std::exchange(record.state, "merging");
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, "null", {}};
}

// All that is in the work tree, so that it can be made again with what was put aside.
Status keep_whole(const Order& order, Record& record) {
  if (record.aside_from.empty()) return {};
  const Result<Now> now = look_now(order, record, true, Whose::all);
  if (!now) return std::unexpected(now.error());
  record.whole = now->commit;
  return Store::at(record.store).set_ref(ref_of(record, "whole"), record.whole);
}

}  // namespace

Done merging(const Order& order, Record record) {
  if (std::optional<Done> decided = decided_already(record)) return *std::move(decided);
  return mark(order, std::move(record));
}

Done undoing(const Order& order, Record record) {
  if (record.state != "merged") return {record, "null", nothing_to_undo()};
  return mark(order, std::move(record));
}

Done publish(const Order& order, Record record) {
  if (std::optional<Done> decided = decided_already(record, ": push your own branch")) return *std::move(decided);
  if (Status kept = keep_end(order, record); !kept) return refused(record, kept.error());
  if (std::optional<Done> decided = decided_already(record, ": push your own branch")) return *std::move(decided);
  const std::vector<std::string> later = changed_later(order, record);
  const Store store = Store::at(record.store);
  Result<Fd> lock = store.lock();
  if (!lock) return refused(record, lock.error());
  if (std::optional<Refused> why = publish_changes(record, order.message)) return {record, "null", std::move(why)};
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  std::string text;
  JsonOut out(text);
  out.object().field("commit", record.published).field("branch", record.branch);
  out.text_or_null("target", record.target).field("repo", record.repository.top).field("git_dir", record.store);
  write_later(out, later);
  out.end();
  return {record, text, {}};
}

Done merge(const Order& order, Record record) {
  const std::optional<MergeMode> mode = parse_merge_mode(order.mode.empty() ? "squash" : order.mode);
  if (!mode) return refused(record, {Code::invalid_argument, "`mode` must be squash, merge or patch.", "mode"});
  if (std::optional<Done> decided = decided_already(record)) return *std::move(decided);
  if (order.with_later) record.aside_from.clear(), record.aside_to.clear();
  if (order.order != "take" || order.with_later || record.end.empty())
    if (Status kept = keep_end(order, record); !kept) return refused(record, kept.error());
  if (std::optional<Done> decided = decided_already(record)) return *std::move(decided);
  const std::vector<std::string> later = changed_later(order, record);
  const Store store = Store::at(record.store);
  Result<Fd> lock = store.lock();
  if (!lock) return refused(record, lock.error());
  std::optional<Refused> why =
      merge_changes(order.data_dir, record, *mode, order.message.empty() ? order.title : order.message);
  // A conflict is a state: it says what to do next, and goes when a merge succeeds.
  if (why && why->error.reason == "conflict") {
    record.state = "conflict";
    if (record.is_held())
      why->error.message +=
          " A test ran in its work tree: what you do there yourself is merged with `errand merge --with-later`.";
  }
  if (!why) record.decided = now_text(order), record.looked.clear(), record.stays.clear();
  if (Status kept = write_record(order.data_dir, record); !kept && !why) why = Refused{kept.error(), {}};
  if (why) return {record, "null", std::move(why)};
  std::string text;
  JsonOut out(text);
  out.object().field("mode", order.mode.empty() ? "squash" : order.mode);
  out.text_or_null("commit", record.merged_to)
      .text_or_null("target", record.target)
      .text_or_null("work_dir", record.merged_at);
  write_later(out, later);
  out.end();
  return {record, text, {}};
}

Done undo(const Order& order, Record record) {
  const Store store = Store::at(record.store);
  Result<Fd> lock = store.lock();
  if (!lock) return refused(record, lock.error());
  std::optional<Refused> why = undo_merge(order.data_dir, record);
  if (!why) record.decided.clear(), record.stays.clear();
  if (Status kept = write_record(order.data_dir, record); !kept && !why) why = Refused{kept.error(), {}};
  return {record, "null", std::move(why)};
}

Done hold(const Order& order, Record record) {
  if (std::optional<Done> decided = decided_already(record)) return *std::move(decided);
  if (Status kept = keep_end(order, record); !kept) return refused(record, kept.error());
  if (std::optional<Done> decided = decided_already(record)) return *std::move(decided);
  if (record.is_held()) return {record, "null", {}};
  record.aside_from = record.end;
  record.aside_to.clear();
  if (Status kept = Store::at(record.store).set_ref(ref_of(record, "aside-from"), record.aside_from); !kept)
    return refused(record, kept.error());
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, "null", {}};
}

Done discard(const Order& order, Record record) {
  if (record.state == "discarded") return {record, "null", {}};
  if (!is_lost(record)) {
    if (Status kept = keep_end(order, record); !kept) return refused(record, kept.error());
    if (Status kept = keep_whole(order, record); !kept) return refused(record, kept.error());
    Result<Head> head = head_of(record.place());
    if (!head) return refused(record, head.error());
    record.tip = head->ref == "refs/heads/" + record.branch ? head->commit : "";
    if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
    if (Status removed = remove_worktree(order.data_dir, record); !removed) return refused(record, removed.error());
  }
  record.state = "discarded";
  record.decided = now_text(order);
  record.looked.clear(), record.stays.clear(), record.bytes.clear();
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, "null", {}};
}

Done restore(const Order& order, Record record) {
  if (record.state != "discarded" && !is_lost(record))
    return refused(record, {Code::conflict, "The task's own work tree is there; nothing was discarded.", "state"});
  if (record.state == "discarded" && !record.cleaned.empty())
    return refused(record, {Code::conflict,
                            "It was discarded too long ago, so its files are gone. The patch is kept: `errand diff` "
                            "prints it, and `git apply` takes it.",
                            "expired"});
  const Store store = Store::at(record.store);
  Result<std::string> tree = store.tree_of(!record.whole.empty() ? record.whole
                                           : record.end.empty()  ? record.start
                                                                 : record.end);
  if (!tree) return refused(record, tree.error());
  // Where somebody deleted the folder, the branch still is where its commits are.
  if (record.state != "discarded" && !record.is_clone())
    record.tip = git_line({.args = {"rev-parse", "-q", "--verify", "refs/heads/" + record.branch},
                           .git_dir = record.repository.common_dir})
                     .value_or(record.tip);
  if (record.state == "discarded" || !record.cleaned.empty()) record.branch.clear();
  const std::string commit = record.tip.empty() ? record.base : record.tip, base = record.base;
  if (commit != base && !record.is_clone())
    if (Status given = give_objects(store, users_objects(record), commit, base); !given)
      return refused(record, given.error());
  if (Status made = make_worktree(order.data_dir, record, commit, *tree, order.title); !made)
    return refused(record, made.error());
  record.base = base;
  record.tip.clear(), record.whole.clear();
  record.state = "ready";
  // What the set-up command made is mostly ignored by git, and so not there again.
  record.set_up.clear();
  record.decided.clear(), record.looked.clear(), record.stays.clear(), record.cleaned.clear();
  record.bytes = std::to_string(disk_bytes(record.path));
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, "null", {}};
}

}  // namespace errand::changes
