#include "changes/look.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "changes/aside.h"
#include "changes/worktree.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

// A further turn behind a merge brought nothing: all is as it was merged.
void back_to_merged(Record& record) {
  record.end = std::exchange(record.start, std::exchange(record.merged_start, {}));
  record.state = "merged";
}
// It brought something, which is counted, merged and published from the merge on.
void go_on_from_merge(Record& record) {
  record.onto = record.merged_to.empty() ? record.target : record.merged_to;
  record.merged_start.clear(), record.merged_from.clear(), record.merged_to.clear(), record.merged_at.clear();
  record.decided.clear();
}

// A list, and what is known of the work tree by now.
std::string with_worktree(std::string list, const Order& order, const Record& record) {
  list.resize(list.rfind('}'));
  std::string more;
  JsonOut fields(more);
  fields.object().key("bytes");
  if (const int64_t bytes = number_in(record.bytes, 0); bytes > 0)
    fields.value(bytes);
  else
    fields.null();
  fields.text_or_null("stays", record.stays);
  std::error_code error;
  fields.field("set_up", fs::exists(set_up_mark(order.data_dir, record.task), error));
  fields.field("held", record.is_held());
  fields.field("since_merge", !record.onto.empty() || !record.merged_start.empty()).end();
  return list.append(",").append(more, 1);
}

std::string patch_reply(const std::string& path, std::optional<std::string_view> patch, const std::string& why) {
  std::string text;
  JsonOut out(text);
  out.object().field("path", path).key("patch");
  if (patch)
    out.value(*patch);
  else
    out.null();
  out.text_or_null("why", why).end();
  return text;
}

}  // namespace

Result<Now> look_now(const Order& order, const Record& record, bool fresh, Whose whose) {
  if (is_lost(record))
    return fail(Code::not_found, fmt::format("The task's own work tree {} is gone.", to_utf8(record.path)), "lost");
  const Store store = Store::at(record.store);
  Result<Fd> lock = store.lock();
  if (!lock) return std::unexpected(lock.error());
  // The index of a clone is the task's own, and names objects that the store does not have: ours goes on by itself.
  if (record.is_clone())
    if (Status taken = take_commits(store, record); !taken) return std::unexpected(taken.error());
  Result<Snapshot> taken = take_snapshot(store, record.place(), own_index(order), fresh && !record.is_clone());
  if (!taken) return std::unexpected(taken.error());
  if (whose == Whose::tasks) {
    Result<std::string> own = without_aside(store, record, taken->commit, own_index(order) + ".aside");
    if (!own) return std::unexpected(own.error());
    taken->commit = std::move(*own);
  }
  Result<std::vector<ChangedFile>> files = list_changes(store, record.start, taken->commit);
  if (!files) return std::unexpected(files.error());
  Now now{.commit = taken->commit, .listing = {}};
  now.listing.files = std::move(*files);
  now.listing.left_out = std::move(taken->left_out);
  now.listing.left_out_more = taken->left_out_more;
  find_shared(order.data_dir, record, taken->commit, now.listing);
  return now;
}

Status keep_final(const Order& order, Record& record) {
  Result<Now> now = look_now(order, record, true);
  if (!now) return std::unexpected(now.error());
  const Store store = Store::at(record.store);
  record.end = now->commit;
  record.ended = now_text(order);
  if (!record.kind.empty()) record.bytes = std::to_string(disk_bytes(record.path));
  if (!record.merged_start.empty()) {
    if (now->listing.files.empty()) {
      back_to_merged(record);
      for (const auto& [name, commit] : {std::pair{"start", record.start}, std::pair{"end", record.end}})
        if (Status kept = store.set_ref(ref_of(record, name), commit); !kept) return kept;
      return write_record(order.data_dir, record);
    }
    go_on_from_merge(record);
  }
  now->listing.final = true;
  if (Status kept = store.set_ref(ref_of(record, "end"), record.end); !kept) return kept;
  // Many turns change nothing: both snapshots are of the same files then, and there is nothing to keep.
  if (now->listing.files.empty()) {
    (void)replace_file(final_patch(order), "", 0600, Durability::process);
  } else {
    (void)keep_objects(store, record.end, record.start);
    (void)write_patch(store, record.start, record.end, final_patch(order));
  }
  const int failed = replace_file(final_list(order), to_json(now->listing), 0600, Durability::power);
  if (failed != 0) return fail(Code::unavailable, "The list of changes cannot be written.", "store");
  return write_record(order.data_dir, record);
}

Done list(const Order& order, const Record& record) {
  if (!record.end.empty() || record.state == "discarded" || is_lost(record))
    if (std::optional<std::string> kept = read_small(final_list(order), size_t{16} << 20))
      return {record, with_worktree(std::move(*kept), order, record), {}};
  Result<Now> now = look_now(order, record, false);
  if (!now) return refused(record, now.error());
  (void)Store::at(record.store).set_ref(ref_of(record, "now"), now->commit);
  return {record, with_worktree(to_json(now->listing), order, record), {}};
}

Done file(const Order& order, const Record& record) {
  const Store store = Store::at(record.store);
  const std::string to = !record.end.empty() ? record.end : store.ref(ref_of(record, "now")).value_or("");
  if (to.empty()) return refused(record, {Code::conflict, "Ask for the list of changes first.", "no_list"});
  Result<std::vector<ChangedFile>> files = list_changes(store, record.start, to);
  if (files) {
    for (const ChangedFile& one : *files) {
      if (one.path != order.path && to_utf8(one.path) != order.path && percent_encoded(one.path) != order.path)
        continue;
      Result<std::string> patch = file_patch(store, record.start, to, one);
      if (patch) return {record, patch_reply(one.path, *patch, ""), {}};
      if (patch.error().reason == "large_patch") return {record, patch_reply(one.path, {}, patch.error().message), {}};
      files = std::unexpected(patch.error());
      break;
    }
    if (files) return refused(record, {Code::not_found, "The task did not change this file.", "no_file"});
  }
  // The objects are gone: what was kept at its end is there.
  const std::optional<std::string> patch = read_small(final_patch(order), whole_patch_max);
  if (!patch) return refused(record, files.error());
  const std::string name = " b/" + order.path + "\n";
  for (const std::string_view section : patch_sections(*patch))
    if (std::string(first_line(section)).append("\n").ends_with(name)) {
      if (section.size() > patch_bytes_max)
        return {record, patch_reply(order.path, {}, "The patch is too large to be shown."), {}};
      return {record, patch_reply(order.path, section, ""), {}};
    }
  return refused(record, {Code::not_found, "The task did not change this file.", "no_file"});
}

Done patch(const Order& order, const Record& record) {
  std::error_code error;
  std::string path = final_patch(order);
  if (record.end.empty() || !fs::exists(path, error)) {
    Result<Now> now = look_now(order, record, false);
    if (!now) return refused(record, now.error());
    // As `list` does: the index goes on from here, so its objects must stay.
    (void)Store::at(record.store).set_ref(ref_of(record, "now"), now->commit);
    path = task_folder(order.data_dir, order.task) + "/now.patch";
    if (Status made = write_patch(Store::at(record.store), record.start, now->commit, path); !made)
      return refused(record, made.error());
  }
  std::string text;
  JsonOut out(text);
  out.object().field("file", fs::path(path).filename().string()).end();
  return {record, text, {}};
}

}  // namespace errand::changes
