// errand show: everything about a task.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/home.h"
#include "base/text.h"
#include "cli/artifact_info.h"
#include "cli/duration.h"
#include "cli/progress_line.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/task_text.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// What has no price is unknown, never $0.00.
std::string cost_text(const ProgressInfo& progress) {
  if (progress.cost_usd <= 0) return progress.unpriced ? ", cost ?" : "";
  return fmt::format(", {}${:.4f}", progress.unpriced ? "at least " : "", progress.cost_usd);
}

constexpr size_t result_lines_max = 20;

class Sheet {
 public:
  explicit Sheet(bool colours) : colours_(colours) {}

  void row(std::string_view name, std::string_view text, std::string_view style = {}) {
    if (!text.empty())
      out_ += styled(fmt::format("{:<12}", name), "2", colours_) + styled(shown_line(text), style, colours_) + "\n";
  }
  void when(std::string_view name, Time time, Time now) {
    if (time) row(name, fmt::format("{} ({} ago)", local_time(time, now), short_duration(now - time)));
  }
  void block(std::string_view name, std::string_view text, std::string_view more) {
    if (trim(text).empty()) return;
    out_ += "\n" + styled(name, "1", colours_) + "\n";
    size_t shown = 0;
    for (std::string_view line : split(trim(text), '\n')) {
      if (shown++ == result_lines_max) {
        out_ += fmt::format("  … {}\n", more);
        break;
      }
      out_ += "  " + without_escapes(line, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show) + "\n";
    }
  }
  void question(const WaitingInfo& waiting) {
    out_ += "\n" + styled("It asks", "1;33", colours_) + "\n";
    for (const std::string_view line : split(trim(question_text(waiting, colours_, true)), '\n'))
      out_ += "  " + std::string(line) + "\n";
  }
  const std::string& text() const { return out_; }

 private:
  bool colours_;
  std::string out_;
};

void progress_rows(Sheet& sheet, const TaskInfo& task) {
  const ProgressInfo& progress = task.progress;
  if (progress.input_tokens + progress.output_tokens > 0)
    sheet.row("usage", fmt::format("{} tokens in, {} out{}", progress.input_tokens, progress.output_tokens,
                                   cost_text(progress)));
  if (progress.output_bytes > 0)
    sheet.row("output", fmt::format("{} lines, {}{}", progress.output_lines, size_text(progress.output_bytes),
                                    progress.output_truncated ? "; over the limit, so the middle was dropped" : ""));
  if (progress.cpu_s > 0 || progress.memory_bytes > 0)
    sheet.row("resources",
              fmt::format("{:.1f} s of CPU, {} of memory", progress.cpu_s, size_text(progress.memory_bytes)));
  if (task.at_work() && progress.idle_s >= 1)
    sheet.row("idle", short_duration(static_cast<Millis>(progress.idle_s * 1000)));
  if (progress.tool_calls == 0) return;
  std::string tools;
  for (const ToolInfo& tool : progress.recent_tools) tools += tool_text(tool) + "\n";
  sheet.block(fmt::format("Tools ({} {}{})", progress.tool_calls, progress.tool_calls == 1 ? "call" : "calls",
                          static_cast<size_t>(progress.tool_calls) > progress.recent_tools.size()
                              ? fmt::format(", the last {}", progress.recent_tools.size())
                              : ""),
              tools, "");
}

// The logs are not worth a line: every task has them.
std::string artifact_lines(Context& context, const std::string& id) {
  std::string lines;
  const Result<std::string> body = context.client.get(task_path(id, "/artifacts"));
  for (const ArtifactInfo& file : parse_artifacts(body.value_or("")))
    if (file.source != "log")
      lines += fmt::format("{}  {}  {}\n", shown_line(file.name), size_text(file.size), shown_line(file.media_type));
  return lines;
}

std::string limit_words(const std::string& name, const std::string& value) {
  const int64_t number = std::atoll(value.c_str());
  if (name == "memory" || name == "memory_bytes" || name == "output_bytes") return size_words(number);
  if (name == "cpu" || name == "cpu_s" || name == "timeout") return value + " s";
  return value;
}

// What holds for it: "2 GiB of memory, 512 processes, 4096 open files, 64 MiB of output".
std::string limits_text(const TaskInfo& task) {
  std::string text;
  const std::pair<const char*, const char*> words[] = {{"cpu_s", "of CPU time"},
                                                       {"memory_bytes", "of memory"},
                                                       {"processes", "processes"},
                                                       {"open_files", "open files"},
                                                       {"output_bytes", "of output"}};
  for (const auto& [name, what] : words)
    if (const auto limit = task.limits.find(name); limit != task.limits.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", limit_words(name, std::to_string(limit->second)), what);
  if (const auto nice = task.limits.find("nice"); nice != task.limits.end() && nice->second != 0)
    text += fmt::format(", nice {}", nice->second);
  return text;
}

// Details are for programs; a person wants the limit that was hit, and what was last said on standard error.
void error_rows(Sheet& sheet, const TaskInfo& task) {
  const std::string limit = member(task.error_details, "limit"), seen = member(task.error_details, "seen");
  if (!limit.empty())
    sheet.row("limit hit",
              fmt::format("{}: {}{}", task.error_code, limit_words(task.error_code, limit),
                          seen.empty() ? "" : fmt::format(" allowed, {} used", limit_words(task.error_code, seen))),
              "31");
  const std::string said = member(task.error_details, "stderr_tail");
  const bool plain = task.kind == "command" && !task.error_details.empty();
  sheet.block("Error (" + task.error_code + ")", task.error_message + (plain ? "" : "\n" + task.error_details),
              "--json prints all of it");
  if (plain) sheet.block("End of standard error", said, fmt::format("errand logs {} prints all of it", task.id));
}

}  // namespace

int show(Context& context, const ShowArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  Result<std::string> body = context.client.get(task_path(*id));
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<TaskInfo> task = parse_task(*body);
  if (!task) return screen.fail(task.error());

  Time now = wall_now();
  Sheet sheet(screen.colours());
  sheet.row("id", task->id);
  sheet.row("title", task->title, "1");
  sheet.row("status", status_text(*task) + (task->reason.empty() ? "" : " (" + task->reason + ")"),
            status_style(*task));
  if (task->at_work() || task->stopping) sheet.row("now", activity(*task));
  if (task->waiting_for && !task->waiting_for->request_id.empty())
    sheet.row(
        "answer with",
        fmt::format("errand answer {} {}", task->id,
                    task->waiting_for->kind == "permission" ? "allow|always|pattern|task|agent|deny" : "\"...\""));
  sheet.row("agent", task->agent.empty() ? task->agent_id : task->agent);
  sheet.row("model", task->model);
  sheet.row("command", task->command);
  sheet.row("description", task->description);
  sheet.row("folder", to_home(task->work_dir));
  if (!task->isolation_state.empty())
    sheet.row("work tree", fmt::format("{}{}{}", task->isolation_state,
                                       task->isolation_branch.empty() ? "" : ", branch " + task->isolation_branch,
                                       task->isolation_path.empty() ? "" : ", " + to_home(task->isolation_path)) +
                               (task->isolation_bytes > 0 ? ", " + size_text(task->isolation_bytes) : ""));
  sheet.row("limits", limits_text(*task));
  if (task->sandbox != "off") sheet.row("sandbox", task->sandbox);
  sheet.row("batch", task->batch_id);
  sheet.row("session", task->session_id);
  sheet.row("parent", task->parent_session_id);
  std::string labels;
  for (const auto& [name, value] : task->labels)
    labels += fmt::format("{}{}={}", labels.empty() ? "" : ", ", name, value);
  sheet.row("labels", labels);
  if (task->is_forked) sheet.row("forked", "yes");
  if (task->resume_count > 0) sheet.row("resumed", fmt::format("{} times", task->resume_count));
  if (task->attempt > 1) sheet.row("attempt", std::to_string(task->attempt));
  if (task->turn > 1) sheet.row("turn", std::to_string(task->turn));
  sheet.when("created", task->created_at, now);
  sheet.when("started", task->started_at, now);
  if (task->deadline_at)
    sheet.row("time ends", fmt::format("{} (in {})", local_time(task->deadline_at, wall_now()),
                                       short_duration(std::max<Millis>(task->deadline_at - now, 0))));
  sheet.when("ended", task->completed_at, now);
  sheet.row("took", duration_text(*task, now));
  if (task->expires_at) sheet.row("expires", local_time(task->expires_at, wall_now()));
  if (task->exit_code) sheet.row("exit code", std::to_string(*task->exit_code), *task->exit_code ? "31" : "");
  if (task->signal) sheet.row("signal", std::to_string(*task->signal), "31");
  progress_rows(sheet, *task);
  if (needs_input(*task)) sheet.question(*task->waiting_for);
  sheet.block("Prompt", task->prompt, "--json prints all of it");
  if (!task->error_code.empty()) error_rows(sheet, *task);
  if (task->kind == "command")
    sheet.block("Artifacts", artifact_lines(context, *id), fmt::format("errand artifacts {} lists them all", task->id));
  if (task->result) sheet.block("Result", *task->result, fmt::format("errand output {} prints all of it", task->id));
  screen.out(sheet.text());
  // Who has read why it failed has looked at it: the inbox need not show it any more (R15.1). It is no matter if not.
  if (task->status == "failed" && !task->retrieved_at) [[maybe_unused]]
    const auto read = context.client.get(task_path(*id, "/result"));
  return code(Exit::ok);
}

}  // namespace errand::cli
