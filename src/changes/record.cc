#include "changes/record.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/fields.h"
#include "base/json_out.h"
#include "base/replace_file.h"

namespace errand::changes {
namespace {

// Every field by its name, for both directions. Paths are bytes, not always UTF-8: all is kept in hexadecimal.
template <class R, class Visit>
void visit(R& record, Visit field) {
  field("task", record.task);
  field("work_dir", record.work_dir);
  field("top", record.repository.top);
  field("repo_git_dir", record.repository.git_dir);
  field("common_dir", record.repository.common_dir);
  field("store", record.store);
  field("start", record.start);
  field("end", record.end);
  field("began", record.began);
  field("ended", record.ended);
  field("kind", record.kind);
  field("state", record.state);
  field("path", record.path);
  field("git_dir", record.git_dir);
  field("branch", record.branch);
  field("base", record.base);
  field("base_kind", record.base_kind);
  field("target", record.target);
  field("merged_from", record.merged_from);
  field("merged_to", record.merged_to);
  field("merged_at", record.merged_at);
  field("merged_start", record.merged_start);
  field("onto", record.onto);
  field("aside_from", record.aside_from);
  field("aside_to", record.aside_to);
  field("whole", record.whole);
  field("tip", record.tip);
  field("before", record.before);
  field("moving", record.moving);
  field("set_up", record.set_up);
  field("decided", record.decided);
  field("looked", record.looked);
  field("stays", record.stays);
  field("cleaned", record.cleaned);
  field("bytes", record.bytes);
  field("published", record.published);
}

}  // namespace

std::string task_folder(const std::string& data_dir, const std::string& task) {
  return data_dir + "/changes/tasks/" + task;
}

std::string set_up_mark(const std::string& data_dir, const std::string& task) {
  return task_folder(data_dir, task) + "/setup";
}

int64_t number_in(const std::string& text, int64_t otherwise) {
  int64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<Record> all_records(const std::string& data_dir) {
  std::vector<Record> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir + "/changes/tasks", error))
    if (Result<std::optional<Record>> record = read_record(data_dir, entry.path().filename().string());
        record && *record)
      all.push_back(std::move(**record));
  return all;
}

Result<std::optional<Record>> read_record(const std::string& data_dir, const std::string& task) {
  const std::string file = task_folder(data_dir, task) + "/record";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::optional<Record>();
  const auto damaged = [&] { return fail(Code::internal, "The record of the task's changes is damaged.", "damaged"); };
  const std::optional<std::string> text = read_small(file);
  if (!text) return damaged();
  Result<Document> document = Document::parse(*text);
  if (!document) return damaged();
  Record record;
  Fields fields(document->value());
  bool good = true;
  visit(record, [&](const char* name, std::string& into) {
    std::string hex;
    fields.text(name, hex, {.bytes_max = size_t{64} << 10, .may_be_blank = true});
    const std::optional<std::string> bytes = from_hex(hex);
    good = good && bytes;
    into = bytes.value_or("");
  });
  if (!good || !fields.done()) return damaged();
  return record;
}

Status write_record(const std::string& data_dir, const Record& record) {
  const std::string folder = task_folder(data_dir, record.task);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string text;
  JsonOut out(text);
  out.object();
  visit(record, [&](const char* name, const std::string& value) { out.field(std::string_view(name), to_hex(value)); });
  out.end();
  const int failed = replace_file(folder + "/record", text, 0600, Durability::power);
  if (failed == 0) return {};
  return fail(failed == ENOSPC ? Code::storage_full : Code::unavailable,
              fmt::format("The record of the task's changes cannot be written: {}.", std::strerror(failed)), "store");
}

}  // namespace errand::changes
