// errand output: a task's result. The first reading marks it as retrieved (R3.1).
#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/resolve.h"
#include "cli/stay.h"
#include "cli/verbs.h"
#include "cli/watch.h"

namespace errand::cli {

namespace {

Result<StreamEnd> wait_for(Context& context, const std::string& id, std::optional<Millis> timeout) {
  Interrupt interrupt;
  ProgressLine progress(context.screen);
  WatchCalls calls;
  if (timeout) calls.deadline = steady_now() + *timeout;
  calls.changed = [&](const TaskInfo& task) {
    progress.set(activity(task));
    return !task.at_work();
  };
  calls.tick = [&] { progress.tick(); };
  return watch_tasks(context.client, {id}, calls);
}

}  // namespace

int output(Context& context, const OutputArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  if (args.wait) {
    Result<StreamEnd> end = wait_for(context, *id, args.timeout);
    if (!end) return screen.fail(end.error());
    if (*end == StreamEnd::interrupted) return detach(context, *id);
  }
  Result<std::string> body = context.client.get(task_path(*id, "/result"));
  if (!body) return screen.fail(body.error());
  Result<TaskInfo> task = get_task(context, *id);
  if (!task) return screen.fail(task.error());
  Exit exit = exit_of(*task);
  if (screen.json()) {
    screen.out_line(*body);
    return code(exit);
  }
  if (exit == Exit::still_running) {
    screen.say(fmt::format("no result yet: the task is {} ({}).", task->status, activity(*task)));
    return code(exit);
  }
  std::string result = member(*body, "result");
  args.raw ? screen.out_bytes(result) : screen.out_task_text(result);
  if (!result.empty() && !result.ends_with('\n') && !args.raw) screen.out("\n");
  explain_end(context, *task);
  return code(exit);
}

}  // namespace errand::cli
