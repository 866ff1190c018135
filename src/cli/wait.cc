// errand wait: until tasks are at rest.
#include <map>

#include <fmt/format.h>

#include "cli/act_on.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/resolve.h"
#include "cli/task_text.h"
#include "cli/verbs.h"
#include "cli/watch.h"

namespace errand::cli {

namespace {

Result<std::vector<std::string>> named(Context& context, const WaitArgs& args) {
  std::vector<std::string> ids;
  for (const std::string& text : args.ids) {
    Result<std::string> id = resolve_task(context, text);
    if (!id) return std::unexpected(id.error());
    ids.push_back(*id);
  }
  if (args.batch.empty()) return ids;
  Result<std::string> batch = resolve_batch(context, args.batch);
  if (!batch) return std::unexpected(batch.error());
  std::string cursor;
  do {
    Result<std::string> body = context.client.get(
        "/api/tasks" +
        Query().add("batch_id", *batch).add("archived", "all").add("limit", "500").add("cursor", cursor).text());
    Result<TaskPage> page = body ? parse_tasks(*body) : std::unexpected(body.error());
    if (!page) return std::unexpected(page.error());
    for (const TaskInfo& task : page->tasks) ids.push_back(task.id);
    cursor = page->next_cursor;
  } while (!cursor.empty());
  if (ids.empty()) return fail(Code::not_found, fmt::format("The batch {} has no tasks.", args.batch), "not_found");
  return ids;
}

}  // namespace

int wait(Context& context, const WaitArgs& args) {
  const Screen& screen = context.screen;
  if (args.ids.empty() == args.batch.empty())
    return screen.fail({Code::invalid_argument, "Nothing to wait for was named. Give ids, or --batch.", "usage"});
  Result<std::vector<std::string>> ids = named(context, args);
  if (!ids) return screen.fail(ids.error());

  Interrupt interrupt;
  ProgressLine progress(screen);
  Outcome missing;
  std::map<std::string, TaskInfo> open;
  Exit exit = Exit::ok;
  size_t ended = 0;
  WatchCalls calls;
  calls.first_only = args.any;
  if (args.timeout) calls.deadline = steady_now() + *args.timeout;
  calls.tick = [&] { progress.tick(); };
  calls.gone = [&](const std::string&, const Error& error) {
    progress.erase();
    missing.failed(screen, error);
  };
  calls.changed = [&](const TaskInfo& task) {
    if (task.at_work()) {
      progress.set(ids->size() == 1 ? activity(task) : fmt::format("{} of {} have ended", ended, ids->size()));
      return false;
    }
    ++ended;
    exit = worse(exit, exit_of(task));
    progress.erase();
    // Read whole: an event has no result.
    Result<std::string> body = context.client.get(task_path(task.id));
    TaskInfo whole = body ? parse_task(*body).value_or(task) : task;
    if (screen.json()) {
      if (body) screen.out_line(*body);
    } else if (!screen.quiet()) {
      screen.out(screen.out_is_terminal() ? render_table(task_columns(), task_rows({whole}, wall_now()),
                                                         {screen.width(), screen.colours(), false})
                                          : render_tabs(task_fields({whole})));
    }
    return true;
  };
  Result<StreamEnd> end = watch_tasks(context.client, *ids, calls);
  progress.erase();
  if (end && *end == StreamEnd::interrupted) {
    if (screen.json())
      return screen.fail({Code::unavailable, "Detached; the tasks go on.", "interrupted"}, Exit::interrupted);
    screen.say("detached; the tasks go on.");
    return code(Exit::interrupted);
  }
  if (!end) return screen.fail(end.error());
  if (*end == StreamEnd::deadline) {
    const std::string how_far = fmt::format("ime is up: {} of {} have ended.", ended, ids->size());
    if (screen.json()) return screen.fail({Code::unavailable, "T" + how_far, "still_running"}, Exit::still_running);
    screen.say("t" + how_far);
    return code(Exit::still_running);
  }
  return missing.exit() ? missing.exit() : code(exit);
}

}  // namespace errand::cli
