#include "task/notice.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"
#include "task/json.h"

namespace errand {
namespace {

constexpr size_t summary_characters_max = 300;
constexpr size_t data_characters_max = 2'000;  // Of the last lines, in a notice's data.

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

// One line for people: no escapes, no newlines, not too long.
std::string short_line(std::string_view text) {
  const std::string line = one_line(text);
  const std::string_view head = first_characters(line, summary_characters_max);
  return std::string(head) + (head.size() < line.size() ? "…" : "");
}

std::string first_words(std::string_view text) { return short_line(first_line(trim(text))); }

std::string last_words(std::string_view text) {
  const std::string_view all = trim(text);
  const size_t at = all.rfind('\n');
  return short_line(at == std::string_view::npos ? all : all.substr(at + 1));
}

std::string signal_text(int signal) {
  const char* const abbreviation = ::sigabbrev_np(signal);
  return std::to_string(signal) + (abbreviation ? " (SIG" + std::string(abbreviation) + ")" : "");
}

std::string how_it_ended(const Task& task) {
  if (task.signal) return "ended by signal " + signal_text(*task.signal);
  if (task.exit_code) return "exit code " + std::to_string(*task.exit_code);
  return {};
}

// One line: what was done, or what went wrong. `result` is as it is shown.
std::string summary_of(const Task& task, std::string_view result) {
  const std::string ending = how_it_ended(task);
  std::string words;
  if (task.state == TaskState::failed && task.error) {
    words = first_words(task.error->message) + " (" + task.error->code + ")";
  } else if (task.state == TaskState::cancelled) {
    words = "Ended before it was done: " + task.reason + ".";
  } else if (!trim(result).empty()) {
    // A command says at its end what came of it; an agent begins with it.
    words = task.launch.kind == TaskKind::command ? last_words(result) : first_words(result);
  } else {
    words = "No output.";
  }
  return ending.empty() ? words : words + " [" + ending + "]";
}

std::string size_text(int64_t bytes) {
  const auto tenths = [](int64_t value, int64_t unit) {
    return std::to_string(value / unit) + "." + std::to_string(value % unit * 10 / unit);
  };
  if (bytes < 1'000) return std::to_string(bytes) + " B";
  if (bytes < 1'000'000) return tenths(bytes, 1'000) + " kB";
  if (bytes < 1'000'000'000) return tenths(bytes, 1'000'000) + " MB";
  return tenths(bytes, 1'000'000'000) + " GB";
}

// A call of that tool, whose name is the same in every family.
std::string look_at(const Task& task, std::string_view path) {
  return "look_at(task_id=\"" + task.id.value + "\", path=\"" + std::string(path) + "\")";
}

std::string artifacts_text(const Task& task) {
  const ArtifactSummary& artifacts = task.progress.artifacts;
  if (artifacts.count == 0 && artifacts.left_out == 0) return {};
  std::string text = "\n- Artifacts: " + std::to_string(artifacts.count) +
                     (artifacts.count == 1 ? " file, " : " files, ") + size_text(artifacts.bytes) + " (" +
                     look_at(task, "artifacts") + ")";
  for (const Artifact& file : artifacts.first)
    text += "\n  - " + short_line(file.name) + " (" + size_text(file.size) + ", " + short_line(file.media_type) + ")";
  const auto shown = std::ssize(artifacts.first);
  if (artifacts.count > shown) text += "\n  - and " + std::to_string(artifacts.count - shown) + " more";
  if (artifacts.left_out > 0) text += "\n  - " + std::to_string(artifacts.left_out) + " left out; the list says why";
  return text;
}

// Past its limit a command's output has lost its middle (R9.3).
bool output_cut(const Task& task) {
  const int64_t limit = task.launch.limits.output_bytes;
  return limit > 0 && task.progress.output_bytes > limit;
}

// What stands above a command's last lines where they are not all that it printed.
std::string about_output(const Task& task, size_t kept) {
  const Progress& progress = task.progress;
  if (task.launch.kind != TaskKind::command || progress.output_bytes <= static_cast<int64_t>(kept)) return {};
  const std::string size = size_text(progress.output_bytes);
  std::string text = "[The last of " + std::to_string(progress.output_lines) + " lines, " + size;
  // Of an output that was cut nobody has counted the lines.
  if (output_cut(task))
    text = "[The last lines of " + size + "; the log keeps the first and the last " +
           size_text(task.launch.limits.output_bytes / 2);
  return text + ". Read on with " + look_at(task, "log") + ".]\n";
}

// Where the whole is: for agents a path that they can open, or a call that they can make; for programs an address.
std::string where_to_look(const Task& task, std::string_view output_path) {
  if (!output_path.empty()) return std::string(output_path);
  return look_at(task, task.launch.kind == TaskKind::command ? "log" : "transcript");
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
  // An agent reads it: what a terminal would obey is not for it.
  const std::string result = task.result ? without_escapes(*task.result, EscapeFilter::Colours::drop) : std::string();
  const std::string summary = summary_of(task, result);
  const std::string path = where_to_read(task, output_path);

  notice.text = form("Background Task " + std::string(verdict.heading), one_line(task.title), verdict.status,
                     duration ? format_duration(*duration) : "not started", where_to_look(task, output_path), summary);
  notice.text += "\n- Task: " + task.id.value;
  notice.text += artifacts_text(task);
  // A cancelled task shows what it had until then.
  const std::string about = about_output(task, task.result ? task.result->size() : 0);
  if (!trim(result).empty()) {
    notice.text +=
        "\n\n" + about +
        bounded(result, result_cap - count_characters(about), "Read the whole with " + look_at(task, "result") + ".");
  }

  const ArtifactSummary& artifacts = task.progress.artifacts;
  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("status", name(task.state));
  out.field("ok", verdict.status == "Success").text_or_null("reason", task.reason);
  out.field("turn", task.turn).field("attempt", task.attempt).field("resume_count", task.resume_count);
  out.field("batch_id", task.launch.batch_id).field("duration_ms", duration).field("output_path", path);
  out.field("summary", summary).field("exit_code", task.exit_code).field("signal", task.signal);
  out.field("output_bytes", task.progress.output_bytes).field("output_lines", task.progress.output_lines);
  out.field("output_cut", output_cut(task));
  out.field("last_lines", last_characters(result, data_characters_max));
  out.key("error");
  if (task.error) {
    out.object().field("code", task.error->code).field("message", task.error->message).end();
  } else {
    out.null();
  }
  out.key("artifacts").object().field("count", artifacts.count).field("bytes", artifacts.bytes);
  out.field("left_out", artifacts.left_out).key("first").array();
  for (const Artifact& file : artifacts.first) write_artifact(out, file);
  out.end().end().end();
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
                     "background_output(batch_id=\"" + batch + "\")", summary + ".");

  JsonOut out(notice.data);
  out.object().field("batch_id", batch).field("total", total).key("counts").object();
  for (int i = 0; i < task_state_count; ++i) out.field(name(static_cast<TaskState>(i)), counts.by_state[i]);
  out.end().field("output_path", "/api/batches/" + batch + "/results").end();
  return notice;
}

Notice progress_notice(const Task& task, NoticeId id, Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::progress, now);
  const std::optional<Millis> duration = duration_of(task, now);
  std::string summary;
  if (task.launch.kind == TaskKind::command) {
    const int64_t lines = task.progress.output_lines;
    summary = std::to_string(lines) + (lines == 1 ? " line" : " lines") + " of output so far, " +
              std::to_string(task.progress.output_bytes) + " bytes; the last sign of life was " +
              format_duration(std::max<Millis>(0, now - task.progress.last_update)) + " ago.";
  } else {
    summary = std::to_string(task.progress.tool_calls) + " tool calls so far";
    if (!task.progress.recent_tools.empty()) summary += ", the last: " + task.progress.recent_tools.back().name;
    summary += ".";
  }
  notice.text = form("Background Task Progress", task.title, "Running", duration ? format_duration(*duration) : "",
                     where_to_look(task, {}), summary);
  notice.text += "\n- Task: " + task.id.value;
  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("status", name(task.state));
  out.field("turn", task.turn).field("duration_ms", duration).field("summary", summary).end();
  return notice;
}

Notice match_notice(const Task& task, std::string_view pattern, std::string_view line, int64_t more, NoticeId id,
                    Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::match, now);
  const std::optional<Millis> duration = duration_of(task, now);
  std::string summary = "The output matches \"" + std::string(pattern) + "\"";
  if (more > 0) summary += " (and " + std::to_string(more) + (more == 1 ? " line" : " lines") + " before it did)";
  summary += ": " + one_line(line);
  notice.text = form("Background Task Match", task.title, "Running", duration ? format_duration(*duration) : "",
                     where_to_look(task, {}), summary);
  notice.text += "\n- Task: " + task.id.value;
  JsonOut out(notice.data);
  out.object().field("task_id", task.id).field("title", task.title).field("status", name(task.state));
  out.field("turn", task.turn).field("duration_ms", duration).field("pattern", pattern).field("line", line);
  out.field("more", more).end();
  return notice;
}

Notice ask_notice(const Task& task, const Ask& ask, NoticeId id, Time now) {
  Notice notice = notice_for(task, std::move(id), NoticeKind::ask, now);
  const bool permission = ask.kind == AskKind::permission;
  notice.text =
      form("Background Task Asks", task.title, permission ? "Waiting for permission" : "Waiting for an answer", {}, {},
           bounded(asked_text(ask), result_cap, "Read the whole in the task's events."));
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
