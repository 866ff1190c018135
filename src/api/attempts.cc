#include "api/attempts.h"

#include "api/changes.h"
#include "api/launch.h"
#include "base/json_out.h"

namespace errand::api {
namespace {

constexpr Millis test_timeout_ms = 1'800'000;
constexpr size_t message_max = 16 << 10;  // It is a word of a command line, where each byte may be three.

void write_left(JsonOut& out, const std::vector<NotDone>& left) {
  out.key("left").array();
  for (const NotDone& one : left) out.object().field("task_id", one.task).field("why", one.why).end();
  out.end();
}

// The sums of a list (changes/listing.h); the rest of it is not of interest here.
void write_sums(JsonOut& out, const std::string& list) {
  const Result<Document> document = Document::parse(list);
  if (!document) {
    out.null();
    return;
  }
  int64_t files = 0, added = 0, removed = 0;
  Fields fields(document->value());
  fields.integer("files_total", files, 0, INT64_MAX);
  fields.integer("added", added, 0, INT64_MAX);
  fields.integer("removed", removed, 0, INT64_MAX);
  if (fields.failed())
    out.null();
  else
    out.object().field("files", files).field("added", added).field("removed", removed).end();
}

void read_message(Fields& fields, ChangesAsk& ask) {
  fields.text("message", ask.message, {.bytes_max = message_max, .may_be_blank = true});
}

void write_text(JsonOut& out, const Task& task) {
  const CommitText text = commit_text(task);
  out.object().field("subject", text.subject).field("body", text.body).field("source", name(text.source)).end();
}

}  // namespace

Result<std::vector<Launch>> parse_attempts(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Fields fields(document->value());
  constexpr TextRule name_rule{.bytes_max = 256, .one_line = true};
  struct Who {
    std::string agent_id, model;
  };
  std::vector<Who> agents;
  fields.each("agents", attempts_max, [&](Fields& inner) {
    Who& who = agents.emplace_back();
    inner.text("agent_id", who.agent_id, name_rule);
    inner.text("model", who.model, name_rule);
    if (who.agent_id.empty())
      inner.refuse("agent_id", "must be given: GET /api/agents lists those that can be used", "missing_field");
    if (who.agent_id == "command") inner.refuse("agent_id", "must be an agent: a command makes no attempts");
  });
  if (!fields.failed() && agents.size() < 2)
    fields.refuse("agents", "must be a list of two or more: [{\"agent_id\":\"...\",\"model\":\"...\"}]",
                  "missing_field");
  if (!fields.has("launch")) fields.refuse("launch", "must be given: a launch without `agent_id`", "missing_field");
  if (fields.failed()) return std::unexpected(fields.done().error());
  Launch launch;
  launch.agent_id = agents.front().agent_id;
  fields.inner("launch", [&](Fields& inner) {
    for (const char* name : {"agent_id", "model", "kind", "command", "isolate"})
      if (inner.has(name))
        inner.refuse(name, "must be left out: `agents` says who does it, and each has its own work tree");
    read_launch(inner, launch);
  });
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  launch.isolate = Isolate::worktree;
  if (launch.batch_id.empty()) launch.batch_id = BatchId("new");
  std::vector<Launch> launches;
  for (Who& who : agents) {
    Launch& one = launches.emplace_back(launch);
    one.agent_id = std::move(who.agent_id);
    one.model = std::move(who.model);
  }
  return launches;
}

std::string attempts_reply(const std::vector<TaskView>& made) {
  std::string text;
  JsonOut out(text);
  out.object().field("batch_id", made.front().task.launch.batch_id).key("tasks").array();
  for (const TaskView& view : made) out.raw(task_reply(view));
  out.end().end();
  return text;
}

Result<Launch> parse_test(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Launch launch;
  launch.kind = TaskKind::command;
  launch.agent_id = "command";
  launch.timeout_ms = test_timeout_ms;
  Fields fields(document->value());
  if (!fields.has("command"))
    fields.refuse("command", "must be given: a text for /bin/sh, or a list of words", "missing_field");
  read_command(fields, launch);
  fields.seconds_or_none("timeout_s", launch.timeout_ms);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return launch;
}

std::string tests_reply(const TestsBegun& begun) {
  std::string text;
  JsonOut out(text);
  out.object().field("batch_id", begun.batch).key("tests").array();
  for (const TaskView& view : begun.tests) out.raw(task_reply(view));
  out.end();
  write_left(out, begun.left);
  out.end();
  return text;
}

std::string compared_reply(const BatchId& id, const std::vector<ComparedAttempt>& attempts) {
  std::string text;
  JsonOut out(text);
  out.object().field("batch_id", id).key("attempts").array();
  for (const ComparedAttempt& attempt : attempts) {
    out.object().key("task").raw(task_reply(attempt.view)).key("changes");
    if (attempt.changes)
      write_sums(out, attempt.changes->reply);
    else
      out.null();
    out.text_or_null("why", attempt.why).key("test");
    if (attempt.test)
      out.raw(task_reply(*attempt.test));
    else
      out.null();
    out.end();
  }
  out.end().end();
  return text;
}

Result<MergeRequest> parse_merge(std::string_view body) {
  const Result<Document> document = Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  MergeRequest request{.merge = {.order = "merge"}};
  Fields fields(document->value());
  fields.text("mode", request.merge.mode, {.bytes_max = 100});
  if (const std::string& mode = request.merge.mode;
      !mode.empty() && mode != "squash" && mode != "merge" && mode != "patch")
    fields.refuse("mode", "must be `squash`, `merge` or `patch`", "out_of_range");
  read_message(fields, request.merge);
  fields.flag("discard_others", request.discard_others);
  fields.flag("with_later", request.merge.with_later);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return request;
}

std::string chosen_reply(const Chosen& chosen) {
  std::string text;
  JsonOut out(text);
  out.object().key("task").raw(task_reply(chosen.merged.view)).key("merge");
  if (chosen.merged_before)
    out.null();
  else
    out.raw(chosen.merged.answer.reply);
  out.key("discarded").array();
  for (const TaskId& id : chosen.discarded) out.value(id);
  out.end();
  write_left(out, chosen.left);
  out.end();
  return text;
}

Result<ChangesAsk> parse_publish(std::string_view body) {
  const Result<Document> document = Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  ChangesAsk ask{.order = "publish"};
  Fields fields(document->value());
  read_message(fields, ask);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return ask;
}

std::string published_reply(const ChangesReply& reply) {
  std::string text;
  JsonOut out(text);
  out.object().key("task").raw(task_reply(reply.view)).key("publish").raw(reply.answer.reply).key("text");
  write_text(out, reply.view.task);
  out.end();
  return text;
}

std::string commit_text_reply(const Task& task) {
  std::string text;
  JsonOut out(text);
  write_text(out, task);
  return text;
}

}  // namespace errand::api
