#include "tools/words.h"

#include <algorithm>
#include <array>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "task/json.h"

namespace errand::tools {
namespace {

// "1 line", "2 lines".
std::string count_of(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::optional<Millis> duration_of(const Task& task, Time now) {
  if (!task.started_at) return std::nullopt;
  const Time end = at_work(task.state) || !task.completed_at ? now : task.completed_at;
  return std::max<Millis>(0, end - task.started_at);
}

std::string ago(Time at, Time now) { return format_duration(std::max<Millis>(0, now - at)) + " ago"; }

// One short line, whatever is in it.
std::string short_line(std::string_view text, size_t characters) {
  const std::string_view line = trim(first_line(trim(text)));
  const std::string_view head = first_characters(line, characters);
  return std::string(head) + (head.size() < line.size() ? "…" : "");
}

std::string progress_words(const Task& task, Time now) {
  const Progress& progress = task.progress;
  std::string words;
  if (task.launch.kind == TaskKind::command) {
    words = count_of(progress.output_lines, "line") + " (" + count_of(progress.output_bytes, "byte") + ") of output";
    if (progress.cpu_s > 0) words += fmt::format(", {:.1f} s of CPU", progress.cpu_s);
    if (progress.memory_bytes > 0) words += fmt::format(", {} MiB of memory", progress.memory_bytes >> 20);
  } else {
    words = count_of(progress.tool_calls, "tool call") + ", " + count_of(progress.turns, "turn");
    const int64_t tokens = progress.usage.input_tokens + progress.usage.output_tokens;
    if (tokens > 0) words += ", " + count_of(tokens, "token");
    if (progress.usage.cost_usd > 0) words += fmt::format(", ${:.4f}", progress.usage.cost_usd);
  }
  if (progress.last_update) words += ", last update " + ago(progress.last_update, now);
  return words;
}

std::string state_words(const TaskView& view) {
  const Task& task = view.task;
  std::string words(status_word(task.state));
  if (task.state == TaskState::failed || task.state == TaskState::cancelled) words += " (" + task.reason + ")";
  if (view.moment.queue_position)
    words += fmt::format(" (waits for a slot, place {} in line)", *view.moment.queue_position);
  if (task.stopping) words += ", its processes are being ended";
  return words;
}

constexpr std::string_view properties = R"(
"task_id":{"type":"string"},
"kind":{"type":"string","enum":["agent","command"]},
"status":{"type":"string","enum":["pending","running","completed","error","cancelled","resumed"]},
"reason":{"type":["string","null"],"description":"finished, timeout, hung, cancelled_by_..., exit, ..."},
"title":{"type":"string"},
"agent":{"type":"string"},
"model":{"type":["string","null"]},
"work_dir":{"type":["string","null"],"description":"The folder that it works in."},
"batch_id":{"type":["string","null"]},
"is_forked":{"type":"boolean"},
"resume_count":{"type":"integer"},
"turn":{"type":"integer"},
"attempt":{"type":"integer"},
"queue_position":{"type":["integer","null"],"description":"Its place in line while it waits for a slot; 1 is next."},
"waiting_for":{"type":["object","null"],"properties":{"kind":{"type":"string"},"request_id":{"type":"string"},"text":{"type":"string"}},"required":["kind","request_id","text"],"additionalProperties":false,"description":"What it asks, where it waits for somebody."},
"created_at":{"type":"string"},
"started_at":{"type":["string","null"]},
"completed_at":{"type":["string","null"]},
"duration_s":{"type":["number","null"]},
"exit_code":{"type":["integer","null"]},
"signal":{"type":["integer","null"]},
"error":{"type":["object","null"],"properties":{"code":{"type":"string"},"message":{"type":"string"}},"required":["code","message"],"additionalProperties":false},
"progress":{"type":"object","properties":{
"tool_calls":{"type":"integer"},
"recent_tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"summary":{"type":"string"},"at":{"type":["string","null"]}},"required":["name","summary","at"],"additionalProperties":false}},
"turns":{"type":"integer"},
"usage":{"type":"object","properties":{"input_tokens":{"type":"integer"},"output_tokens":{"type":"integer"},"cost_usd":{"type":["number","null"]}},"required":["input_tokens","output_tokens","cost_usd"]},
"output_bytes":{"type":"integer"},"output_lines":{"type":"integer"},"cpu_s":{"type":"number"},"memory_bytes":{"type":"integer"},
"last_update":{"type":["string","null"]},"idle_s":{"type":["number","null"]}},
"required":["tool_calls","recent_tools","turns","usage","output_bytes","output_lines","cpu_s","memory_bytes","last_update","idle_s"]})";

constexpr size_t error_characters_max = 4'000;

}  // namespace

std::string_view status_word(TaskState state) { return state == TaskState::failed ? "error" : name(state); }

std::optional<TaskState> parse_status_word(std::string_view word) {
  return word == "error" ? TaskState::failed : parse_task_state(word);
}

std::string_view status_words() { return "pending, running, completed, error, cancelled, resumed"; }

std::string id_with_marks(const Task& task) {
  return task.id.value + (task.resume_count > 0 ? " (resumed)" : "") + (task.is_forked ? " (forked)" : "");
}

std::string list_line(const TaskView& view) {
  const Task& task = view.task;
  std::string line = "- " + id_with_marks(task) + " [" + state_words(view) + "] " + short_line(task.title, 80);
  if (task.launch.kind == TaskKind::agent) line += ", agent " + agent_name(task.launch);
  if (const auto duration = duration_of(task, view.moment.now)) line += ", " + format_duration(*duration);
  if (at_work(task.state) && task.phase == TurnPhase::working) line += ", " + progress_words(task, view.moment.now);
  if (task.exit_code) line += ", exit code " + std::to_string(*task.exit_code);
  if (task.launch.batch_id) line += ", batch " + task.launch.batch_id.value;
  return line;
}

std::string describe(const TaskView& view) {
  const Task& task = view.task;
  const Time now = view.moment.now;
  std::string text = "Task: " + id_with_marks(task) + "\nTitle: " + short_line(task.title, 200);
  text += "\nStatus: " + state_words(view);
  if (const auto duration = duration_of(task, now)) text += "\nDuration: " + format_duration(*duration);
  if (task.exit_code) text += "\nExit code: " + std::to_string(*task.exit_code);
  if (task.signal) text += "\nSignal: " + std::to_string(*task.signal);
  if (task.error && !at_work(task.state))
    text += "\nError: " + std::string(first_characters(task.error->message, error_characters_max)) + " (" +
            task.error->code + ")";
  if (!at_work(task.state)) return text;
  text += "\nProgress: " + progress_words(task, now);
  if (!task.progress.recent_tools.empty()) text += "\nRecent tools, newest last:";
  for (const ToolUse& tool : task.progress.recent_tools) {
    text += "\n- " + tool.name;
    if (!tool.summary.empty()) text += ": " + short_line(tool.summary, 200);
    if (tool.at) text += " (" + ago(tool.at, now) + ")";
  }
  if (const Ask* const ask = open_ask(task)) {
    text += "\nIt waits for " + std::string(ask->kind == AskKind::permission ? "a permission" : "an answer") + " (" +
            ask->request_id + "): " + std::string(first_characters(ask->text, 2'000));
    for (const std::string& option : ask->options) text += "\n  - " + short_line(option, 200);
  }
  return text;
}

void write_task_members(JsonOut& out, const TaskView& view) {
  const Task& task = view.task;
  out.field("task_id", task.id).field("kind", name(task.launch.kind)).field("status", status_word(task.state));
  out.text_or_null("reason", task.reason);
  out.field("title", task.title).field("agent", agent_name(task.launch)).text_or_null("model", task.launch.model);
  out.text_or_null("work_dir", task.launch.work_dir);
  out.field("batch_id", task.launch.batch_id).field("is_forked", task.is_forked);
  out.field("resume_count", task.resume_count).field("turn", task.turn).field("attempt", task.attempt);
  out.field("queue_position", view.moment.queue_position).key("waiting_for");
  if (const Ask* const ask = open_ask(task)) {
    out.object().field("kind", name(ask->kind)).field("request_id", ask->request_id);
    out.field("text", first_characters(ask->text, error_characters_max)).end();
  } else {
    out.null();
  }
  out.field("created_at", task.created_at).field("started_at", task.started_at);
  out.field("completed_at", task.completed_at).key("duration_s");
  if (const auto duration = duration_of(task, view.moment.now)) {
    out.value(static_cast<double>(*duration) / 1000);
  } else {
    out.null();
  }
  out.field("exit_code", task.exit_code).field("signal", task.signal).key("error");
  if (task.error && !at_work(task.state)) {
    out.object().field("code", task.error->code);
    out.field("message", first_characters(task.error->message, error_characters_max)).end();
  } else {
    out.null();
  }
  out.key("progress");
  write_progress(out, task.progress, view.moment.now);
}

void write_task(JsonOut& out, const TaskView& view) {
  out.object();
  write_task_members(out, view);
  out.end();
}

std::string object_schema(std::string_view members) {
  std::string schema = R"({"type":"object","properties":{)" + std::string(members) + R"(},"required":[)";
  const boost::json::value parsed = boost::json::parse("{" + std::string(members) + "}");
  bool first = true;
  for (const auto& member : parsed.as_object()) {
    schema += (std::exchange(first, false) ? "\"" : ",\"") + std::string(member.key()) + "\"";
  }
  return schema + R"(],"additionalProperties":false})";
}

std::string task_properties() { return std::string(properties); }
std::string task_schema() { return object_schema(properties); }

}  // namespace errand::tools
