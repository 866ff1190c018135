#include "task/notice.h"

#include <algorithm>
#include <utility>

#include "base/json_out.h"
#include "base/text.h"

namespace errand {
namespace {

constexpr size_t summary_characters_max = 300;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::string_view last_characters(std::string_view text, size_t count) {
  size_t at = text.size();
  while (at > 0 && count > 0) {
    --at;
    if (begins_character(text[at])) --count;
  }
  return text.substr(at);
}

// What seed 002's form says of a turn.
struct Verdict {
  std::string_view heading;
  std::string_view status;
};

Verdict verdict_of(const Task& task) {
  switch (task.state) {
    case TaskState::failed:
      return {"Failed", "Failure"};
    case TaskState::cancelled:
      return {"Cancelled", "Cancelled"};
    // A turn that ended well while the next one already waits leaves the task `resumed`.
    case TaskState::pending:
    case TaskState::running:
    case TaskState::completed:
    case TaskState::resumed:
      return {"Completed", "Success"};
  }
  std::unreachable();
}

// Null where the work never began.
std::optional<Millis> duration_of(const Task& task, Time now) {
  if (!task.started_at) return std::nullopt;
  const Time end = task.completed_at ? task.completed_at : now;
  return std::max<Millis>(0, end - task.started_at);
}

std::string one_line(std::string_view text) {
  const std::string_view line = trim(first_line(trim(text)));
  const std::string_view head = first_characters(line, summary_characters_max);
  return std::string(head) + (head.size() < line.size() ? "…" : "");
}

std::string last_line(std::string_view text) {
  const std::string_view all = trim(text);
  const size_t at = all.rfind('\n');
  return one_line(at == std::string_view::npos ? all : all.substr(at + 1));
}

std::string how_it_ended(const Task& task) {
  if (task.signal) return "ended by signal " + std::to_string(*task.signal);
  if (task.exit_code) return "exit code " + std::to_string(*task.exit_code);
  return {};
}

// One line: what was done, or what went wrong.
std::string summary_of(const Task& task) {
  const std::string ending = how_it_ended(task);
  std::string words;
  if (task.state == TaskState::failed && task.error) {
    words = one_line(task.error->message) + " (" + task.error->code + ")";
  } else if (task.state == TaskState::cancelled) {
    words = "Ended before it was done: " + task.reason + ".";
  } else if (task.result && !trim(*task.result).empty()) {
    // A command says at its end what came of it; an agent begins with it.
    words = task.launch.kind == TaskKind::command ? last_line(*task.result) : one_line(*task.result);
  } else {
    words = "No output.";
  }
  return ending.empty() ? words : words + " [" + ending + "]";
}

std::string where_to_read(const Task& task, std::string_view output_path) {
  if (!output_path.empty()) return std::string(output_path);
  return "/api/tasks/" + task.id.value + (task.launch.kind == TaskKind::command ? "/log" : "/messages");
}

std::string form(std::string_view heading, std::string_view title, std::string_view status, std::string_view duration,
                 std::string_view output_path, std::string_view summary) {
  std::string text = "### " + std::string(heading) + ": " + std::string(title);
  text += "\n- Status: " + std::string(status);
  if (!duration.empty()) text += "\n- Duration: " + std::string(duration);
  if (!output_path.empty()) text += "\n- Output Path: " + std::string(output_path);
  text += "\n- Summary: " + std::string(summary);
  return text;
}

Notice notice_for(const Task& task, NoticeId id, NoticeKind kind, Time now) {
  Notice notice;
  notice.id = std::move(id);
  notice.session_id = task.launch.parent_session_id;
  notice.task_id = task.id;
  notice.turn = task.turn;
  notice.kind = kind;
  notice.created_at = now;
  return notice;
}

}  // namespace

std::string bounded(std::string_view text, size_t cap, std::string_view how_to_read_on) {
  if (text.size() <= cap) return std::string(text);
  const size_t characters = count_characters(text);
  if (characters <= cap) return std::string(text);
  // The sizes in the mark are given for the whole, so that its own length does not depend on what it says.
  const std::string mark = "\n\n[... cut here: the whole has " + std::to_string(characters) + " characters (" +
                           std::to_string(text.size()) + " bytes). " + std::string(how_to_read_on) + " ...]\n\n";
  const size_t mark_characters = count_characters(mark);
  const size_t kept = cap > mark_characters ? cap - mark_characters : 0;
  const size_t tail = kept / 2;
  return std::string(first_characters(text, kept - tail)) + mark + std::string(last_characters(text, tail));
}

int64_t BatchCounts::total() const {
  int64_t sum = 0;
  for (const int64_t count : by_state) sum += count;
  return sum;
}

int64_t BatchCounts::working() const {
  int64_t sum = 0;
  for (int i = 0; i < task_state_count; ++i) {
    if (at_work(static_cast<TaskState>(i))) sum += by_state[i];
  }
  return sum;
}

Notice turn_notice(const Task& task, NoticeId id, std::string_view output_path, Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::turn_ended, now);
  const Verdict verdict = verdict_of(task);
  const std::optional<Millis> duration = duration_of(task, now);
  const std::string summary = summary_of(task);
  const std::string path = where_to_read(task, output_path);

  notice.text = form("Background Task " + std::string(verdict.heading), task.title, verdict.status,
                     duration ? format_duration(*duration) : "not started", path, summary);
  notice.text += "\n- Task: " + task.id.value;
  // A cancelled task shows what it had until then.
  if (task.result && !trim(*task.result).empty()) {
    notice.text +=
        "\n\n" + bounded(*task.result, result_cap,
                         "Read the rest with GET /api/tasks/" + task.id.value + "/result, or with the output tool.");
  }

  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("status", name(task.state));
  out.text_or_null("reason", task.reason);
  out.field("turn", task.turn).field("attempt", task.attempt).field("resume_count", task.resume_count);
  out.field("batch_id", task.launch.batch_id).field("duration_ms", duration).field("output_path", path);
  out.field("summary", summary).field("exit_code", task.exit_code).field("signal", task.signal).end();
  return notice;
}

Notice batch_notice(const Task& last, const BatchCounts& counts, NoticeId id, Time now) {
  Notice notice = notice_for(last, std::move(id), NoticeKind::batch_ended, now);
  const std::string& batch = last.launch.batch_id.value;
  const int64_t total = counts.total();
  const bool all_completed = counts.by_state[std::to_underlying(TaskState::completed)] == total;

  std::string summary = std::to_string(total) + (total == 1 ? " task" : " tasks");
  char separator = ':';
  for (int i = 0; i < task_state_count; ++i) {
    if (counts.by_state[i] == 0) continue;
    summary += separator;
    summary += " " + std::to_string(counts.by_state[i]) + " " + std::string(name(static_cast<TaskState>(i)));
    separator = ',';
  }
  notice.text = form("Background Batch Completed", batch, all_completed ? "Success" : "Failure", {},
                     "/api/batches/" + batch + "/results", summary + ".");

  JsonOut out(notice.data);
  out.object().field("batch_id", batch).field("total", total).key("counts").object();
  for (int i = 0; i < task_state_count; ++i) out.field(name(static_cast<TaskState>(i)), counts.by_state[i]);
  out.end().end();
  return notice;
}

Notice progress_notice(const Task& task, NoticeId id, Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::progress, now);
  const std::optional<Millis> duration = duration_of(task, now);
  std::string summary;
  if (task.launch.kind == TaskKind::command) {
    summary = std::to_string(task.progress.output_lines) + " lines of output so far.";
  } else {
    summary = std::to_string(task.progress.tool_calls) + " tool calls so far";
    if (!task.progress.recent_tools.empty()) summary += ", the last: " + task.progress.recent_tools.back().name;
    summary += ".";
  }
  notice.text = form("Background Task Progress", task.title, "Running", duration ? format_duration(*duration) : "",
                     where_to_read(task, {}), summary);
  notice.text += "\n- Task: " + task.id.value;
  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("status", name(task.state));
  out.field("turn", task.turn).field("duration_ms", duration).field("summary", summary).end();
  return notice;
}

Notice ask_notice(const Task& task, const Ask& ask, NoticeId id, Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::ask, now);
  const bool permission = ask.kind == AskKind::permission;
  notice.text =
      form("Background Task Asks", task.title, permission ? "Waiting for permission" : "Waiting for an answer", {}, {},
           bounded(ask.text, result_cap, "Read the whole in the task's events."));
  notice.text += "\n- Task: " + task.id.value + "\n- Request: " + ask.request_id;
  if (!ask.options.empty()) {
    notice.text += "\n- Options:";
    for (const std::string& option : ask.options) notice.text += "\n  - " + option;
  }

  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("request_id", ask.request_id);
  out.field("kind", name(ask.kind)).field("text", ask.text).key("options").array();
  for (const std::string& option : ask.options) out.value(option);
  out.end().end();
  return notice;
}

}  // namespace errand
