// errand clear: removes tasks that have ended. It never touches one at work.
#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/act_on.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// POSTs the scope and tells what came of it.
void clear_scope(Context& context, Outcome& outcome, std::string_view field, const std::string& id) {
  const Screen& screen = context.screen;
  std::string body;
  JsonOut out(body);
  out.object();
  if (!field.empty()) out.field(field, id);
  out.end();
  Result<std::string> reply = context.client.post("/api/tasks/clear", body);
  if (!reply) return outcome.failed(screen, reply.error());
  std::string removed = member(*reply, "removed"), left = member(*reply, "left");
  if (screen.json()) {
    screen.out_line(*reply);
  } else if (field == "task_id" && removed == "0") {
    outcome.failed(screen,
                   {Code::conflict, fmt::format("{0} has not ended. Cancel it first: errand cancel {0}", short_id(id)),
                    "at_work"});
  } else {
    screen.say(left == "0" ? fmt::format("{} removed.", removed)
                           : fmt::format("{} removed; {} not ended and kept.", removed, left));
  }
}

}  // namespace

int clear(Context& context, const ClearArgs& args) {
  const Screen& screen = context.screen;
  int ways = !args.ids.empty() + !args.batch.empty() + !args.parent.empty() + args.all;
  if (ways != 1)
    return screen.fail(
        {Code::invalid_argument, "Nothing to clear was named. Give ids, --batch, --parent or --all.", "usage"});
  Outcome outcome;
  for (const std::string& text : args.ids) {
    Result<std::string> id = resolve_task(context, text);
    id ? clear_scope(context, outcome, "task_id", *id) : outcome.failed(screen, id.error());
  }
  if (!args.batch.empty()) {
    Result<std::string> id = resolve_batch(context, args.batch);
    id ? clear_scope(context, outcome, "batch_id", *id) : outcome.failed(screen, id.error());
  }
  if (!args.parent.empty()) clear_scope(context, outcome, "parent_session_id", args.parent);
  if (args.all) clear_scope(context, outcome, "", "");
  return outcome.exit();
}

}  // namespace errand::cli
