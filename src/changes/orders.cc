#include "changes/orders.h"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/time.h>

#include "base/fields.h"
#include "base/json_out.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "changes/decisions.h"
#include "changes/look.h"
#include "changes/worktree.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

template <class O, class Visit>
void visit_texts(O& order, Visit field) {
  field("order", order.order);
  field("data_dir", order.data_dir);
  field("home", order.home);
  field("task", order.task);
  field("work_dir", order.work_dir);
  field("title", order.title);
  field("path", order.path);
  field("mode", order.mode);
  field("message", order.message);
  field("setup_run", order.setup_run);
  field("now", order.now);
  field("max_bytes", order.max_bytes);
}

template <class O, class Visit>
void visit_flags(O& order, Visit field) {
  field("isolate", order.isolate);
  field("dirty", order.dirty);
  field("sandboxed", order.sandboxed);
  field("with_later", order.with_later);
}

Done nothing_known(const Order& order) {
  return refused(std::nullopt,
                 {Code::not_found,
                  fmt::format("Nothing is known of what task {} changed: it began without a snapshot.", order.task),
                  "no_changes"});
}

// --- begin

// The folder that the task works in: of its own work tree, the same one as of the user's.
std::string folder_of(const Record& record) {
  if (record.kind.empty()) return record.work_dir;
  if (record.path.empty()) return "";
  std::error_code error;
  const fs::path real = fs::weakly_canonical(record.work_dir, error);
  const fs::path below = real.lexically_relative(record.repository.top);
  const bool inside = !below.empty() && below != "." && *below.begin() != "..";
  return inside ? record.path + "/" + below.string() : record.path;
}

// A set-up command is to follow.
bool is_to_be_set_up(const Order& order, const Record& record) {
  return !record.kind.empty() && !order.setup_run.empty() && record.set_up.empty();
}

// The last run of the set-up command is named beside the record: its log is found by it, also when the rest is gone.
Status mark_set_up(const Order& order, const Record& record) {
  if (!is_to_be_set_up(order, record)) return {};
  const int failed = replace_file(set_up_mark(order.data_dir, order.task), order.setup_run, 0600, Durability::process);
  if (failed == 0) return {};
  return fail(failed == ENOSPC ? Code::storage_full : Code::unavailable, "The record cannot be written.", "store");
}

// What the work trees of all tasks take together.
Status may_have_another(const Order& order) {
  const int64_t most = number_in(order.max_bytes, 0);
  if (most <= 0) return {};
  int64_t bytes = 0;
  for (const Record& record : all_records(order.data_dir))
    if (record.task != order.task && !record.kind.empty() && record.state != "discarded" && record.cleaned.empty())
      bytes += number_in(record.bytes, 0);
  if (bytes < most) return {};
  return fail(
      Code::exhausted,
      fmt::format("The work trees of tasks take {} MiB already, and the setting changes_max_bytes allows {} MiB. "
                  "Discard some of them, or delete tasks that you no longer need; `errand doctor` shows what "
                  "they take.",
                  bytes >> 20, most >> 20),
      "isolation");
}

std::string begun_reply(const Order& order, const Record& record, bool watched, const std::string& why, size_t copied) {
  std::string text;
  JsonOut out(text);
  const std::string work_dir = folder_of(record);
  std::error_code error;
  if (!record.kind.empty()) fs::create_directories(work_dir, error);
  out.object()
      .field("watched", watched)
      .text_or_null("why", why)
      .field("work_dir", work_dir)
      .field("copied", copied)
      .field("set_up", watched && is_to_be_set_up(order, record))
      .end();
  return text;
}

Done begin_isolated(const Order& order, Record record, const Store& store, const Snapshot& start) {
  if (Status may = may_have_another(order); !may) return refused(std::nullopt, may.error());
  record.kind = order.sandboxed ? "clone" : "worktree";
  record.state = "preparing";
  record.set_up.clear();
  record.base_kind = order.dirty ? "dirty" : "head";
  Result<Head> head = head_of(record.repository);
  if (!head) return refused(record, head.error());
  record.target = head->ref;
  std::string commit = head->commit, tree = start.tree;
  if (commit.empty()) {
    // No commit yet: what is there becomes the first one of the task's branch.
    Result<std::string> first = store.commit_tree(start.tree, {}, "errand: before the first commit");
    if (!first) return refused(record, first.error());
    if (!record.is_clone())
      if (Status given = give_objects(store, users_objects(record), *first, ""); !given)
        return refused(record, given.error());
    commit = record.start = *first;
  } else if (!order.dirty) {
    Result<std::string> of_head = store.tree_of(commit);
    if (!of_head) return refused(record, of_head.error());
    tree = *of_head;
    record.start = commit;
  }
  if (Status kept = store.set_ref(ref_of(record, "start"), record.start); !kept) return refused(record, kept.error());
  if (Status made = make_worktree(order.data_dir, record, commit, tree, order.title); !made)
    return refused(record, {made.error().code, made.error().message, "isolation"});
  const size_t copied = copy_included(store, record).value_or(0);
  if (Status marked = mark_set_up(order, record); !marked) return refused(record, marked.error());
  if (!is_to_be_set_up(order, record)) record.state = "ready";
  record.began = now_text(order);
  record.bytes = std::to_string(disk_bytes(record.path));
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, begun_reply(order, record, true, "", copied), {}};
}

// What the set-up command did to the files is no change of the task's.
Done ready(const Order& order, Record record) {
  if (record.state == "preparing") {
    const Store store = Store::at(record.store);
    Result<Fd> lock = store.lock();
    if (!lock) return refused(record, lock.error());
    if (record.is_clone())
      if (Status taken = take_commits(store, record); !taken) return refused(record, taken.error());
    Result<Snapshot> taken = take_snapshot(store, record.place(), own_index(order), !record.is_clone());
    if (!taken) return refused(record, taken.error());
    // Where it changed nothing the start stays a commit of the user's.
    if (store.tree_of(record.start) != taken->tree) {
      record.start = taken->commit;
      if (Status kept = store.set_ref(ref_of(record, "start"), record.start); !kept)
        return refused(record, kept.error());
      (void)keep_objects(store, record.start, record.base);
    }
    record.state = "ready";
    record.began = now_text(order);
  }
  record.set_up = "done";
  record.bytes = std::to_string(disk_bytes(record.path));
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, begun_reply(order, record, true, "", 0), {}};
}

Done begin(const Order& order) {
  Result<std::optional<Record>> known = read_record(order.data_dir, order.task);
  if (!known) return refused(std::nullopt, known.error());
  // A merge that was asked for and never came to be.
  if (*known && (*known)->state == "merging") settle_merge(order.data_dir, **known);
  if (*known && (*known)->state != "preparing" && (*known)->state != "discarded" && is_lost(**known)) {
    if (!(*known)->cleaned.empty())
      return refused(
          *known, {Code::conflict,
                   "The task's own work tree was removed, long after it was merged. `errand discard --restore` makes "
                   "it again.",
                   "isolation"});
    (*known)->state = "lost";
    (void)write_record(order.data_dir, **known);
  }
  if (*known && ((*known)->state == "lost" || (*known)->state == "discarded"))
    return refused(*known, {Code::conflict,
                            fmt::format("The task's own work tree {} is {}. `errand discard --restore` makes it again.",
                                        to_utf8((*known)->path), (*known)->state == "lost" ? "gone" : "discarded"),
                            "isolation"});
  // A further turn goes on in the same place, from the same start.
  if (*known && (*known)->state != "preparing") {
    Record record = **known;
    const Store store = Store::at(record.store);
    if (record.is_held()) {
      // What a test left is not the task's, also where its next turn leaves it there.
      Result<Now> now = look_now(order, record, true, Whose::all);
      if (!now) return refused(record, now.error());
      record.aside_to = now->commit;
      if (Status kept = store.set_ref(ref_of(record, "aside-to"), record.aside_to); !kept)
        return refused(record, kept.error());
    }
    if (record.state == "merged" && !record.end.empty()) {
      // What was merged is the user's. What comes now is counted, and merged, from there; its end says whether anything
      // did.
      record.merged_start = std::exchange(record.start, record.end);
      if (Status kept = store.set_ref(ref_of(record, "start"), record.start); !kept)
        return refused(record, kept.error());
    }
    record.stays.clear();
    if (record.state == "merged" || record.state == "conflict" || record.state == "kept") record.state = "ready";
    record.end.clear(), record.ended.clear();
    if (Status marked = mark_set_up(order, record); !marked) return refused(record, marked.error());
    if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
    return {record, begun_reply(order, record, true, "", 0), {}};
  }
  Record record = *known ? **known : Record{};
  record.task = order.task;
  record.work_dir = order.work_dir;
  const auto without = [&](const Error& error) -> Done {
    if (order.isolate) return refused(std::nullopt, {error.code, error.message, "isolation"});
    return {std::nullopt, begun_reply(order, record, false, error.message, 0), {}};
  };
  Result<Repository> found = find_repository(order.work_dir);
  if (!found) return without(found.error());
  record.repository = *found;
  if (order.isolate && !found->is_git())
    return without(
        {Code::unsupported,
         fmt::format("{} is in no git repository, so the task cannot have a work tree of its own. Launch it without "
                     "--isolate, or `git init` there.",
                     to_utf8(order.work_dir)),
         "isolation"});
  if (Status may = may_be_watched(*found, order.data_dir, order.home); !may) return without(may.error());
  Result<Store> store = Store::open(order.data_dir, *found);
  if (!store) return without(store.error());
  record.store = store->path();
  Result<Fd> lock = store->lock();
  if (!lock) return without(lock.error());
  std::error_code error;
  fs::create_directories(task_folder(order.data_dir, order.task), error);
  Snapshot start;
  if (!order.isolate || order.dirty || head_of(*found).value_or(Head{}).commit.empty()) {
    Result<Snapshot> taken = take_snapshot(*store, *found, own_index(order), true);
    if (!taken) {
      fs::remove(own_index(order), error);
      fs::remove(task_folder(order.data_dir, order.task), error);
      return without(taken.error());
    }
    start = std::move(*taken);
  }
  record.start = start.commit;
  if (order.isolate) return begin_isolated(order, std::move(record), *store, start);
  record.began = now_text(order);
  if (Status kept = store->set_ref(ref_of(record, "start"), record.start); !kept) return without(kept.error());
  if (Status kept = write_record(order.data_dir, record); !kept) return without(kept.error());
  return {record, begun_reply(order, record, true, "", 0), {}};
}

Done finish(const Order& order, Record record) {
  if (Status kept = keep_final(order, record); !kept) {
    if (is_lost(record)) {
      record.state = "lost";
      (void)write_record(order.data_dir, record);
    }
    return refused(record, kept.error());
  }
  return {record, read_small(final_list(order), size_t{16} << 20).value_or("null"), {}};
}

Done must_be_isolated(const Order& order, Record record, const std::function<Done(Record)>& then) {
  if (record.kind.empty())
    return refused(record, {Code::conflict,
                            fmt::format("Task {} worked in the folder itself, so there is nothing to {}.", order.task,
                                        order.order),
                            "not_isolated"});
  if (record.state == "merging") {
    settle_merge(order.data_dir, record);
    if (record.state == "merged" && record.decided.empty()) record.decided = now_text(order);
    (void)write_record(order.data_dir, record);
  }
  return then(std::move(record));
}

// Only what would be missed by nobody.
Done clean(const Order& order, Record record) {
  if ((record.state != "merged" && record.state != "discarded") || !record.cleaned.empty()) return {record, "null", {}};
  const Store store = Store::at(record.store);
  record.looked = now_text(order);
  record.stays.clear();
  if (record.state == "merged") {
    Result<Now> now = look_now(order, record, true, Whose::all);
    if (is_lost(record)) {
      record.stays = "Its folder no longer exists. `errand discard` removes what git still knows of it.";
    } else if (!now) {
      record.stays = now.error().message;
    } else {
      record.stays = why_it_stays(store, record, now->commit);
      // Submodules are empty there.
      for (const LeftOut& one : now->listing.left_out)
        if (record.stays.empty() && one.why != "submodule")
          record.stays = fmt::format("It has files that a snapshot leaves out: {}.", to_utf8(one.path));
    }
    if (record.stays.empty()) {
      record.tip = head_of(record.place()).value_or(Head{}).commit;
      if (Status removed = remove_worktree(order.data_dir, record); !removed) record.stays = removed.error().message;
    }
  } else {
    // The list and the patch stay with the task.
    store.drop_refs("refs/errand/" + record.task + "/");
    std::error_code error;
    fs::remove(own_index(order), error);
    if (const Result<Fd> lock = store.lock()) store.tidy();
  }
  if (record.stays.empty()) record.cleaned = record.looked, record.bytes.clear();
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  if (record.stays.empty()) return {record, "null", {}};
  std::string why;
  JsonOut out(why);
  out.value(record.path + ": " + record.stays);
  return {record, why, {}};
}

Done forget(const Order& order, Record record) {
  const Store store = Store::at(record.store);
  std::error_code error;
  const bool taken = record.state == "merged" || record.state == "discarded" || record.state == "lost";
  if (!record.kind.empty() && !is_lost(record)) {
    // Only what is in the target or was thrown away goes; a branch with commits that nobody has, or files, stays.
    Result<Now> now = look_now(order, record, true, Whose::all);
    const Result<Head> head = head_of(record.place());
    const bool untouched =
        now && now->listing.files.empty() && now->listing.left_out.empty() && head && head->commit == record.base;
    const bool same = now && head && !record.end.empty() && store.tree_of(now->commit) == store.tree_of(record.end) &&
                      now->listing.left_out.empty();
    if (untouched || (taken && same)) {
      record.tip = head->commit;
      (void)remove_worktree(order.data_dir, record);
    }
  }
  store.drop_refs("refs/errand/" + record.task + "/");
  fs::remove_all(task_folder(order.data_dir, order.task), error);
  if (const Result<Fd> lock = store.lock()) store.tidy();
  if (record.kind.empty() || is_lost(record)) return {std::nullopt, "null", {}};
  std::string stays;
  JsonOut out(stays);
  out.value(record.path);
  return {std::nullopt, stays, {}};
}

Done settle(const Order& order, Record record) {
  if (record.state == "preparing") {
    // Its turn never began: all that is there is errand's own, and half made.
    const Store store = Store::at(record.store);
    drop_unborn(order.data_dir, record);
    store.drop_refs("refs/errand/" + record.task + "/");
    // But for the mark of the set-up command: its log says why there is no work tree.
    std::error_code error;
    for (const char* name : {"/record", "/index", "/index.lock"})
      fs::remove(task_folder(order.data_dir, order.task) + name, error);
    fs::remove(task_folder(order.data_dir, order.task), error);
    return {std::nullopt, "null", {}};
  }
  if (record.state == "ready" && is_lost(record)) record.state = "lost";
  if (Status kept = write_record(order.data_dir, record); !kept) return refused(record, kept.error());
  return {record, "null", {}};
}

Done dispatch(const Order& order) {
  if (order.order == "begin") return begin(order);
  Result<std::optional<Record>> known = read_record(order.data_dir, order.task);
  if (!known) return refused(std::nullopt, known.error());
  if (!*known && order.order == "forget") {
    std::error_code error;
    fs::remove_all(task_folder(order.data_dir, order.task), error);
    return {std::nullopt, "null", {}};
  }
  if (!*known && order.order == "settle") return {std::nullopt, "null", {}};
  if (!*known) return nothing_known(order);
  const Record& record = **known;
  if (order.order == "finish") return finish(order, record);
  if (order.order == "list") return list(order, record);
  if (order.order == "file") return file(order, record);
  if (order.order == "patch") return patch(order, record);
  if (order.order == "forget") return forget(order, record);
  using Act = Done (*)(const Order&, Record);
  constexpr std::pair<std::string_view, Act> acts[] = {{"merging", merging}, {"undoing", undoing}, {"hold", hold},
                                                       {"merge", merge},     {"take", merge},      {"publish", publish},
                                                       {"undo", undo},       {"discard", discard}, {"restore", restore},
                                                       {"settle", settle},   {"clean", clean},     {"ready", ready}};
  for (const auto& [name, act] : acts)
    if (order.order == name)
      return must_be_isolated(order, record, [&](Record settled) { return act(order, std::move(settled)); });
  return refused(record, {Code::invalid_argument, "There is no such order.", "order"});
}

void write_isolation(JsonOut& out, const Record& record) {
  out.object().field("kind", record.kind).field("state", record.state).field("path", record.path);
  out.field("work_dir", folder_of(record));
  out.field("branch", record.branch).field("base", record.base).field("repo", record.repository.top);
  constexpr std::string_view heads = "refs/heads/";
  const std::string_view target = record.target;
  out.field("target", target.starts_with(heads) ? target.substr(heads.size()) : target);
  out.field("bytes", number_in(record.bytes, 0)).end();
}

}  // namespace

std::string now_text(const Order& order) {
  if (!order.now.empty()) return order.now;
  timeval at{};
  ::gettimeofday(&at, nullptr);
  return std::to_string(int64_t{at.tv_sec} * 1000 + at.tv_usec / 1000);
}

std::string encode(const Order& order) {
  std::string text;
  JsonOut out(text);
  out.object();
  visit_texts(order, [&](const char* name, const std::string& value) {
    out.field(std::string_view(name), percent_encoded(value));
  });
  visit_flags(order, [&](const char* name, bool value) { out.field(std::string_view(name), value); });
  out.end();
  return text;
}

Result<Order> decode_order(std::string_view text) {
  Result<Document> document = Document::parse(text);
  if (!document) return std::unexpected(document.error());
  Order order;
  Fields fields(document->value());
  visit_texts(order, [&](const char* name, std::string& into) {
    fields.text(name, into, {.bytes_max = size_t{256} << 10, .may_be_blank = true});
    into = percent_decoded(into);
  });
  visit_flags(order, [&](const char* name, bool& into) { fields.flag(name, into); });
  if (Status status = fields.done(); !status) return std::unexpected(status.error());
  if (order.task.empty() || order.task.find_first_of("/.") != std::string::npos || !order.data_dir.starts_with('/'))
    return fail(Code::invalid_argument, "The order names no task or no folder.", "order");
  return order;
}

std::string carry_out(const Order& order) {
  const Done done = dispatch(order);
  std::string text;
  JsonOut out(text);
  out.object().key("isolation");
  if (done.record && !done.record->kind.empty())
    write_isolation(out, *done.record);
  else
    out.null();
  if (done.refused) {
    const Error& error = done.refused->error;
    out.key("error").object().field("code", name(error.code)).field("message", error.message);
    out.field("reason", error.reason).key("files").array();
    for (size_t i = 0; i < std::min<size_t>(done.refused->files.size(), 200); ++i) out.value(done.refused->files[i]);
    out.end().end();
  } else {
    out.key("reply").raw(done.reply);
  }
  out.end();
  return text;
}

int run_order(const std::string& text) {
  Result<Order> order = decode_order(text);
  std::string answer;
  if (order) {
    answer = carry_out(*order);
  } else {
    JsonOut out(answer);
    out.object().key("isolation").null().key("error").object().field("code", name(order.error().code));
    out.field("message", order.error().message)
        .field("reason", order.error().reason)
        .key("files")
        .array()
        .end()
        .end()
        .end();
  }
  answer += '\n';
  return std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace errand::changes
