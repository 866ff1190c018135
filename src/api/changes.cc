#include "api/changes.h"

#include "api/fields.h"
#include "base/json_out.h"
#include "task/json_isolation.h"

namespace errand::api {
namespace {

constexpr size_t message_max = 16 << 10;  // It is a word of a command line, where each byte may be three.

}  // namespace

Result<ChangesAsk> parse_merge(std::string_view body) {
  Result<Document> document = Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  ChangesAsk ask{.order = "merge"};
  Fields fields(document->value());
  fields.text("mode", ask.mode, {.bytes_max = 100});
  if (!ask.mode.empty() && ask.mode != "squash" && ask.mode != "merge" && ask.mode != "patch")
    fields.refuse("mode", "must be `squash`, `merge` or `patch`", "out_of_range");
  fields.text("message", ask.message, {.bytes_max = message_max, .may_be_blank = true});
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return ask;
}

std::string changes_reply(const ChangesReply& reply) {
  std::string text = reply.answer.reply;
  text.resize(text.rfind('}'));
  std::string isolation;
  JsonOut out(isolation);
  out.object();
  write_isolation(out, reply.view.task.isolation);
  out.end();
  // Both are objects: the fields of the second follow those of the first.
  text += ',';
  return text.append(isolation, 1);
}

std::string merge_reply(const ChangesReply& reply) {
  std::string text;
  JsonOut out(text);
  out.object().key("task").raw(task_reply(reply.view)).key("merge").raw(reply.answer.reply).end();
  return text;
}

Result<std::string> changes_text(std::string_view reply) {
  Result<Document> document = Document::parse(reply);
  if (!document) return std::unexpected(document.error());
  constexpr TextRule any{.bytes_max = 64u << 20, .may_be_blank = true};
  Fields fields(document->value());
  std::string text;
  if (fields.has("patch") || fields.has("why")) {
    std::string why;
    fields.text("patch", text, any);
    fields.text("why", why, any);
    return text.empty() ? why : text;
  }
  const auto number = [](Fields& inner, const char* field) {
    int64_t value = 0;
    inner.integer(field, value, INT64_MIN, INT64_MAX);
    return std::to_string(value);
  };
  fields.each("files", 10'000, [&](Fields& file) {
    std::string path, old_path, status, ignored;
    bool binary = false, flag = false;
    file.text("path", path, any);
    file.text("old_path", old_path, any);
    file.text("status", status, any);
    file.flag("binary", binary);
    const std::string added = number(file, "added"), removed = number(file, "removed");
    // What is not told here.
    for (const char* field : {"name", "old_mode", "mode"}) file.text(field, ignored, any);
    for (const char* field : {"generated", "certain"}) file.flag(field, flag);
    std::vector<std::string> shared_with;
    file.texts("shared_with", shared_with, 1'000, any);
    number(file, "size");
    text += status + " " + (old_path.empty() ? "" : old_path + " -> ") + path;
    text += binary ? " (binary)" : " +" + added + " -" + removed;
    for (const std::string& task : shared_with) text += (&task == shared_with.data() ? " shared with " : ", ") + task;
    text += '\n';
  });
  if (fields.failed()) return std::unexpected(fields.done().error());
  return text.empty() ? "It changed nothing.\n" : text;
}

Result<std::string> patch_file(std::string_view reply) {
  Result<Document> document = Document::parse(reply);
  if (!document) return std::unexpected(document.error());
  std::string name;
  Fields fields(document->value());
  fields.text("file", name, {.bytes_max = 100, .one_line = true});
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return name;
}

}  // namespace errand::api
