#include "cli/progress_line.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/connection.h"
#include "cli/duration.h"
#include "cli/table.h"
#include "cli/width.h"

namespace errand::cli {

namespace {
constexpr std::string_view frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr Millis frame_ms = 100;
constexpr int result_columns = 200;
}  // namespace

ProgressLine::ProgressLine(const Screen& screen)
    : screen_(screen), active_(screen.err_is_terminal() && !screen.quiet() && !screen.json()), started_(steady_now()) {}

void ProgressLine::tick() {
  Time now = steady_now();
  if (!active_ || held_ || now - last_drawn_ < frame_ms) return;
  last_drawn_ = now;
  drawn_ = true;
  std::string line =
      fmt::format("{} {}  {}", frames[frame_++ % std::size(frames)], clock_duration(now - started_), shown_line(text_));
  // One column less than there are, since some terminals wrap at the last one.
  screen_.err("\r\x1b[K" + styled(fit(line, screen_.width() - 1), "2", screen_.err_colours()));
}

void ProgressLine::erase() {
  if (drawn_) screen_.err("\r\x1b[K");
  drawn_ = false;
}

std::string tool_text(const ToolInfo& tool) {
  std::string summary = shown_line(tool.summary), name = shown_line(tool.name);
  return summary.empty() ? name : summary == name || summary.starts_with(name + " ") ? summary : name + " " + summary;
}

std::string activity(const TaskInfo& task) {
  if (task.stopping) return "stopping its processes";
  if (task.waiting_for) {
    const WaitingInfo& waiting = *task.waiting_for;
    if (waiting.kind == "permission") return "asks for permission: " + shown_line(waiting.text);
    if (waiting.kind == "answer") return "asks: " + shown_line(waiting.text);
    if (waiting.kind == "quota")
      return waiting.until ? "waits for a usage limit until " + local_time(waiting.until, wall_now())
                           : "waits for a usage limit";
    if (waiting.kind == "children") return "waits for the tasks it launched";
    return "waits: " + waiting.kind;
  }
  if (!task.queue_reason.empty()) return "waits: " + shown_line(task.queue_reason);
  if (task.status == "pending" || (task.status == "resumed" && task.queue_position))
    return task.queue_position ? fmt::format("waits for a slot (place {} in line)", *task.queue_position)
                               : "waits for a slot";
  if (!task.at_work()) {
    if (!task.error_message.empty()) return shown_line(task.error_message);
    if (task.exit_code && *task.exit_code != 0) return fmt::format("exit code {}", *task.exit_code);
    // What a command said last, what an agent said first.
    std::string result = task.result.value_or("");
    std::string_view text = trim(result);
    std::string_view line = task.kind == "command" ? text.substr(text.rfind('\n') + 1) : first_line(text);
    return fit(shown_line(line), result_columns);
  }
  if (!task.progress.recent_tools.empty()) return tool_text(task.progress.recent_tools.back());
  if (task.progress.output_lines > 0) return fmt::format("{} lines of output", task.progress.output_lines);
  return "works";
}

}  // namespace errand::cli
