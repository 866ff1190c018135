// errand inbox (R15.2): what needs you: open questions with all that is needed to decide, then failures that nobody has
// looked at.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/home.h"
#include "base/text.h"
#include "cli/duration.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace errand::cli {
namespace {

std::string heading(const TaskInfo& task, std::string_view style, bool colours, Time now) {
  return styled(short_id(task.id), "1", colours) + "  " + styled(shown_line(task.title), style, colours) + "  " +
         styled(fmt::format("{} · {} · {} ago", task.agent.empty() ? task.agent_id : task.agent,
                            shown_line(to_home(task.work_dir)), short_duration(now - task.created_at)),
                "2", colours) +
         "\n";
}

std::string indented(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(trim(text), '\n')) out += "  " + std::string(line) + "\n";
  return out;
}

}  // namespace

int inbox(Context& context, const InboxArgs&) {
  const Screen& screen = context.screen;
  const Result<std::string> body = context.client.get("/api/inbox");
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  const Time now = wall_now();
  const bool colours = screen.colours();
  std::string text;
  for (const std::string& question : elements(*body, "questions")) {
    const Result<TaskInfo> task = parse_task(member(question, "task"));
    const Result<WaitingInfo> waiting = parse_question(question);
    if (!task || !waiting) continue;
    text += heading(*task, "1;33", colours, now) + indented(question_text(*waiting, colours, true));
    text += styled(fmt::format("  errand answer {} …", short_id(task->id)), "2", colours) + "\n\n";
  }
  for (const std::string& failure : elements(*body, "failures")) {
    const Result<TaskInfo> task = parse_task(failure);
    if (!task) continue;
    text += heading(*task, "31", colours, now);
    text += fmt::format("  failed ({}): {}\n", task->error_code, shown_line(task->error_message));
    text += styled(fmt::format("  errand show {0}   errand retry {0}", short_id(task->id)), "2", colours) + "\n\n";
  }
  if (text.empty()) text = "Nothing needs you.\n";
  if (member(*body, "more") == "true") text += "There is more: errand list --waiting, errand list --status failed\n";
  screen.out(text);
  return code(Exit::ok);
}

}  // namespace errand::cli
