// look_at (R8.7): a task's log, what it left, its result and its conversation, page by page. Nothing else: a path is a
// name that the task's own files have, never a place on the machine.
#include <algorithm>
#include <charconv>

#include "api/changes.h"
#include "api/log_source.h"
#include "base/json_out.h"
#include "base/text.h"
#include "files/look.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

constexpr int64_t limit_default = 16'000;
constexpr int64_t limit_max = 64'000;
constexpr int transcript_messages = 200;
constexpr size_t tool_text_max = 2'000;

struct Request {
  std::string path;
  files::Look look;
};

// A text that is in memory.
class TextSource final : public files::Source {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<Chunk> read(int64_t offset, int64_t limit) override {
    const int64_t begin = std::clamp<int64_t>(offset < 0 ? size() + offset : offset, 0, size());
    const int64_t length = std::clamp<int64_t>(limit, 0, size() - begin);
    return Chunk{.bytes = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(length)),
                 .offset = begin,
                 .next = begin + length,
                 .cut = 0};
  }
  int64_t size() override { return static_cast<int64_t>(text_.size()); }
  bool may_be_binary() const override { return false; }

 private:
  std::string text_;
};

std::string log_name(int run) { return "run-" + std::to_string(run) + ".log"; }

std::optional<int> run_of(std::string_view path) {
  if (!path.starts_with("run-") || !path.ends_with(".log")) return std::nullopt;
  const std::string_view number = path.substr(4, path.size() - 8);
  int run = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), run);
  if (error != std::errc() || end != number.data() + number.size() || run < 1) return std::nullopt;
  return run;
}

std::string part_text(const Part& part) {
  const auto bounded_text = [](std::string_view text) {
    const std::string_view head = first_characters(text, tool_text_max);
    return std::string(head) + (head.size() < text.size() ? " […]" : "");
  };
  switch (part.type) {
    case PartType::text:
    case PartType::notice:
      return part.text;
    case PartType::reasoning:
      return "(thinks) " + part.text;
    case PartType::tool_call:
      return "(calls " + part.name + ") " + bounded_text(part.input);
    case PartType::tool_result:
      return std::string(part.is_error ? "(tool failed) " : "(tool answered) ") + bounded_text(part.text);
    case PartType::file:
      return "(file) " + part.name;
  }
  return {};
}

Result<std::string> transcript(Store& store, const SessionId& session) {
  const Result<MessagePage> page = store.messages(session, 0, INT64_MAX, transcript_messages);
  if (!page) return std::unexpected(page.error());
  std::string text = page->more ? "[earlier messages are left out]\n\n" : "";
  for (const Message& message : page->messages) {
    text += "## " + std::string(name(message.role)) + ", turn " + std::to_string(message.turn) + "\n";
    for (const Part& part : message.parts) text += part_text(part) + "\n";
    text += "\n";
  }
  return text;
}

// One thing that can be looked at.
struct Entry {
  std::string path;
  std::string media_type;
  std::optional<int64_t> size;
};

struct Found {
  std::string path;
  std::unique_ptr<files::Source> source;  // Null: the list was asked for.
  std::vector<Entry> entries;
  std::string note;
};

Result<Found> list_files(const Task& task, const Driver& driver) {
  Found found{.path = "artifacts", .source = nullptr, .entries = {}, .note = {}};
  for (const int run : driver.log_runs(task.id, task.run)) {
    const Result<LogRead> log = driver.read_log(task.id, run, 0, 1);
    if (log) found.entries.push_back({log_name(run), "text/plain", log->size});
  }
  const Result<ArtifactList> list = driver.artifacts(task);
  if (!list) return std::unexpected(list.error());
  for (const Artifact& file : list->files) found.entries.push_back({file.name, file.media_type, file.size});
  if (task.launch.kind == TaskKind::agent) found.entries.push_back({"transcript", "text/plain", std::nullopt});
  if (task.result) found.entries.push_back({"result", "text/plain", static_cast<int64_t>(task.result->size())});
  if (list->left_out > 0) found.note = std::to_string(list->left_out) + " more are left out: " + list->left_out_why;
  return found;
}

// On a reader thread.
Result<Found> find(Store& store, const Task& task, const Driver* driver, const std::string& asked) {
  const bool command = task.launch.kind == TaskKind::command;
  const std::string path = asked.empty() ? (command ? "log" : "transcript") : asked;
  if (path == "result") {
    if (!task.result)
      return fail(Code::not_found, "The task has no result yet: it is " + std::string(status_word(task.state)) + ".",
                  "no_result");
    return Found{.path = path, .source = std::make_unique<TextSource>(*task.result), .entries = {}, .note = {}};
  }
  if (path == "transcript" && !command) {
    Result<std::string> text = transcript(store, task.session_id);
    if (!text) return std::unexpected(text.error());
    return Found{.path = path, .source = std::make_unique<TextSource>(std::move(*text)), .entries = {}, .note = {}};
  }
  if (!driver)
    return fail(Code::unavailable, "This server does not have the driver of this task, so its files cannot be read.");
  if (path == "artifacts") return list_files(task, *driver);
  const std::optional<int> run = path == "log" ? task.run : run_of(path);
  if (run) {
    if (*run > task.run || (!command && driver->log_runs(task.id, task.run).empty()))
      return fail(Code::not_found, "This task has no " + path + "; path=\"artifacts\" lists what can be looked at.",
                  "no_log");
    return Found{.path = *run == 0 ? path : log_name(*run),
                 .source = *run == 0 ? std::unique_ptr<files::Source>(std::make_unique<TextSource>(""))
                                     : api::log_source(*driver, task.id, *run),
                 .entries = {},
                 .note = {}};
  }
  Result<Driver::OpenArtifact> open = driver->open_artifact(task, path);
  if (!open)
    return fail(open.error().code,
                open.error().reason == "no_artifact"
                    ? "This task has nothing of that name; path=\"artifacts\" lists what can be looked at."
                    : open.error().message + " path=\"artifacts\" lists what can be looked at.",
                open.error().reason);
  return Found{.path = open->info.name, .source = files::file_source(std::move(open->file)), .entries = {}, .note = {}};
}

std::string list_text(const Found& found) {
  if (found.entries.empty()) return "This task has no log, result or artifacts yet.";
  std::string text = "What can be looked at (path=...):";
  for (const Entry& entry : found.entries) {
    text += "\n- " + entry.path + " (" + entry.media_type;
    if (entry.size) text += ", " + std::to_string(*entry.size) + " bytes";
    text += ")";
  }
  return found.note.empty() ? text : text + "\n" + found.note;
}

std::string nothing_seen(const std::string& path, const files::Seen& seen, const Request& request) {
  if (!request.look.grep.empty()) return "(no line contains this text)";
  if (seen.size == 0) return "(" + path + " is empty)";
  return "(" + path + " has " + std::to_string(seen.size) + " bytes: there is nothing behind offset " +
         std::to_string(request.look.offset) + ")";
}

ToolResult result_of(const Task& task, const Found& found, const files::Seen& seen, const Request& request) {
  ToolResult result;
  JsonOut out(result.data);
  out.object().field("task_id", task.id).field("path", found.path).field("text", seen.text);
  out.field("offset", seen.offset).field("next", seen.next).field("size", seen.size).field("matches", seen.matches);
  out.field("more", seen.more).field("stopped", seen.stopped).field("binary", seen.binary).key("entries").array();
  for (const Entry& entry : found.entries) {
    out.object().field("path", entry.path).field("media_type", entry.media_type).field("size", entry.size).end();
  }
  out.end().end();
  if (!found.source) {
    result.text = list_text(found);
    return result;
  }
  result.text = seen.text;
  const std::string word = files::describe(seen);
  if (seen.text.empty() && word.empty()) result.text = nothing_seen(found.path, seen, request);
  if (!word.empty()) result.text += (result.text.empty() || result.text.ends_with('\n') ? "[" : "\n[") + word + "]";
  return result;
}

// What it changed: the files, or the patch of one.
void look_at_changes(const CallPtr& call, const TaskView& view, const Request& request) {
  const size_t slash = request.path.find('/');
  ChangesAsk ask{.order = slash == std::string::npos ? "list" : "file"};
  if (slash != std::string::npos) ask.path = request.path.substr(slash + 1);
  call->parts.engine.changes().ask(view.task.id, std::move(ask), [call, request](Result<ChangesReply> reply) {
    if (!reply) return call->refuse(reply.error());
    if (reply->answer.refused) return call->refuse(*reply->answer.refused);
    read_then(
        call,
        [&clock = call->parts.clock, kept = reply->view.kept, text = std::move(reply->answer.reply),
         request]() -> Result<ToolResult> {
          Result<std::string> readable = api::changes_text(text);
          if (!readable) return std::unexpected(readable.error());
          Found found{.path = request.path,
                      .source = std::make_unique<TextSource>(std::move(*readable)),
                      .entries = {},
                      .note = {}};
          Result<files::Seen> seen = files::look(*found.source, request.look, clock);
          if (!seen) return std::unexpected(seen.error());
          return result_of(*kept, found, *seen, request);
        },
        [call](ToolResult result) { call->answer(std::move(result.text), std::move(result.data)); });
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  std::string id;
  Request request;
  request.look.limit = limit_default;
  if (!fields.has("task_id")) fields.refuse("task_id", "must be given", "missing_field");
  fields.text("task_id", id, id_rule);
  fields.text("path", request.path, {.bytes_max = files::path_max});
  fields.integer("offset", request.look.offset, -(1LL << 50), 1LL << 50);
  fields.integer("limit", request.look.limit, 1, limit_max);
  fields.text("grep", request.look.grep, {.bytes_max = 1'024, .may_be_blank = true});
  int tail = 0;
  fields.integer("tail", tail, 1, files::look_tail_max);
  if (tail > 0) request.look.tail = tail;
  if (fields.has("tail") && request.look.offset != 0) fields.refuse("tail", "cannot be given together with `offset`");
  fields.integer("context", request.look.context, 0, files::look_context_max);
  if (call->refused(fields)) return;
  with_task(call, std::move(id), [call, request = std::move(request)](const TaskView& view) {
    if (request.path == "changes" || request.path.starts_with("changes/")) return look_at_changes(call, view, request);
    read_then(
        call,
        [&store = call->parts.store, &clock = call->parts.clock, task = view.task,
         driver = call->parts.engine.tasks().driver_of(view.task), request]() -> Result<ToolResult> {
          Result<Found> found = find(store, task, driver, request.path);
          if (!found) return std::unexpected(found.error());
          files::Seen seen;
          if (found->source) {
            Result<files::Seen> looked = files::look(*found->source, request.look, clock);
            // A run that printed nothing has an empty log.
            if (!looked && looked.error().code != Code::not_found) return std::unexpected(looked.error());
            if (looked) seen = std::move(*looked);
          }
          return result_of(task, *found, seen, request);
        },
        [call](ToolResult result) { call->answer(std::move(result.text), std::move(result.data)); });
  });
}

}  // namespace

Tool look_at() {
  return {
      {.name = "look_at",
       .title = "Look at a task's log and files",
       .description = "Reads what a task printed and left, while it works or after: log, result, artifacts, an agent's "
                      "conversation. By pages (offset, limit), the last lines (tail) or only lines with a text (grep).",
       .input_schema =
           R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"path":{"type":"string","description":"log (default of commands), run-N.log (an earlier run), transcript (default of agents), result, artifacts (a list of all), an artifact's name, changes (the files it changed), or changes/FILE (a patch)."},
"offset":{"type":"integer","description":"Byte to begin at; negative: from the end."},
"limit":{"type":"integer","maximum":64000,"description":"Bytes. Default: 16000."},
"grep":{"type":"string","description":"Plain text."},
"tail":{"type":"integer","description":"Lines from the end (of those that match); not with offset."},
"context":{"type":"integer","maximum":50,"description":"With grep: lines around each match."}},"required":["task_id"],"additionalProperties":false})",
       .output_schema = object_schema(
           R"("task_id":{"type":"string"},"path":{"type":"string"},"text":{"type":"string"},"offset":{"type":"integer"},"next":{"type":"integer","description":"Where to go on."},"size":{"type":"integer"},"matches":{"type":"integer"},"more":{"type":"boolean"},"stopped":{"type":"boolean","description":"The search took too long and ended at next."},"binary":{"type":"boolean"},"entries":{"type":"array","items":)" +
           object_schema(
               R"("path":{"type":"string"},"media_type":{"type":"string"},"size":{"type":["integer","null"]})") +
           "}"),
       .example = R"({"task_id":"task_01k9z3s5x7e8","tail":50})",
       .annotations = {.read_only = true, .idempotent = true}},
      handle};
}

}  // namespace errand::tools
