// errand cancel: stops tasks and everything they started, and stays until that is true.
#include <algorithm>

#include <fmt/format.h>

#include "cli/act_on.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/verbs.h"
#include "cli/watch.h"

namespace errand::cli {

namespace {

// All tasks in these states, by id.
Result<std::vector<std::string>> in_states(Context& context, const std::string& states, const std::string& batch) {
  std::vector<std::string> ids;
  std::string cursor;
  do {
    Query query = Query()
                      .add("status", states)
                      .add("batch_id", batch)
                      .add("archived", "all")
                      .add("limit", "500")
                      .add("cursor", cursor);
    Result<std::string> body = context.client.get("/api/tasks" + query.text());
    Result<TaskPage> page = body ? parse_tasks(*body) : std::unexpected(body.error());
    if (!page) return std::unexpected(page.error());
    for (const TaskInfo& task : page->tasks) ids.push_back(task.id);
    cursor = page->next_cursor;
  } while (!cursor.empty());
  return ids;
}

// Of several that are named, one that is not there keeps none of the others from being stopped.
Result<std::vector<std::string>> named(Context& context, const CancelArgs& args, Outcome& outcome) {
  std::vector<std::string> ids;
  for (const std::string& text : args.ids) {
    Result<std::string> id = resolve_task(context, text);
    if (id) {
      ids.push_back(*id);
    } else {
      outcome.failed(context.screen, id.error());
    }
  }
  std::string states;
  for (const std::string& state : args.status) states.append(states.empty() ? "" : ",").append(state);
  if (states.empty()) states = "pending,running,resumed";
  if (!args.batch.empty()) {
    Result<std::string> batch = resolve_batch(context, args.batch);
    if (!batch) return std::unexpected(batch.error());
    return in_states(context, states, *batch);
  }
  if (args.all || !args.status.empty()) return in_states(context, states, "");
  return ids;
}

// Until the processes of all are gone.
Result<StreamEnd> wait_until_gone(Context& context, const std::vector<std::string>& ids) {
  Interrupt interrupt;
  ProgressLine progress(context.screen);
  progress.set("stopping its processes");
  WatchCalls calls;
  calls.changed = [](const TaskInfo& task) { return !task.stopping; };
  calls.tick = [&] { progress.tick(); };
  return watch_tasks(context.client, ids, calls);
}

}  // namespace

int cancel(Context& context, const CancelArgs& args) {
  const Screen& screen = context.screen;
  int ways = !args.ids.empty() + !args.batch.empty() + (args.all || (!args.status.empty() && args.batch.empty()));
  if (ways != 1)
    return screen.fail(
        {Code::invalid_argument, "Nothing to cancel was named. Give ids, --batch, --status or --all.", "usage"});
  Outcome outcome;
  Result<std::vector<std::string>> ids = named(context, args, outcome);
  if (!ids) return screen.fail(ids.error());
  if (ids->empty() && outcome.exit() != 0) return outcome.exit();
  if (ids->empty()) {
    if (screen.json()) return code(Exit::ok);
    screen.say("no task there is pending, running or resumed.");
    return code(Exit::ok);
  }

  std::vector<std::string> stopping;
  for (const std::string& id : *ids) {
    Result<std::string> body = context.client.post(task_path(id, "/cancel"));
    Result<TaskInfo> task = body ? parse_task_reply(*body) : std::unexpected(body.error());
    // Of many, one may have ended meanwhile: that is what was wanted.
    bool ended_meanwhile = !task && task.error().code == Code::conflict && args.ids.empty();
    if (ended_meanwhile) continue;
    if (!task) {
      outcome.failed(screen, task.error());
      continue;
    }
    if (task->stopping) stopping.push_back(id);
    outcome.done(id, *body);
  }
  if (!stopping.empty() && !args.no_wait) {
    Result<StreamEnd> end = wait_until_gone(context, stopping);
    if (end && *end == StreamEnd::interrupted) {
      screen.say("the tasks are cancelled. Their processes are still being stopped.");
      return code(Exit::interrupted);
    }
    if (!end) outcome.failed(screen, end.error());
  }
  for (const auto& [id, body] : outcome.succeeded()) {
    Result<std::string> now = screen.json() ? context.client.get(task_path(id)) : body;
    if (screen.json()) {
      screen.out_line(now ? *now : body);
    } else if (!screen.quiet()) {
      bool still = args.no_wait && std::ranges::find(stopping, id) != stopping.end();
      screen.out_line(fmt::format("{}  cancelled{}", screen.out_is_terminal() ? short_id(id) : id,
                                  still ? "; its processes are being stopped" : ""));
    }
  }
  return outcome.exit();
}

}  // namespace errand::cli
