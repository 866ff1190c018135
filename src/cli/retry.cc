// errand retry: starts failed or cancelled tasks again, each under its own id.
#include <fmt/format.h>

#include "cli/act_on.h"
#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/verbs.h"

namespace errand::cli {

int retry(Context& context, const RetryArgs& args) {
  const Screen& screen = context.screen;
  if (args.stay != Stay::no && args.ids.size() > 1)
    return screen.fail(
        {Code::invalid_argument, "--wait and --follow take one task. errand wait takes several.", "usage"});
  std::string body;
  JsonOut out(body);
  out.object();
  if (!args.message.empty()) out.field("message", args.message);
  out.end();
  Outcome outcome;
  for (const std::string& text : args.ids) {
    Result<std::string> id = resolve_task(context, text);
    Result<std::string> reply = id ? context.client.post(task_path(*id, "/retry"), body) : std::unexpected(id.error());
    Result<TaskInfo> task = reply ? parse_task_reply(*reply) : std::unexpected(reply.error());
    if (!task) {
      outcome.failed(screen, task.error());
    } else if (args.stay != Stay::no) {
      return stay_with(context, *task, task->seq, args.stay, *reply);
    } else if (screen.json()) {
      screen.out_line(*reply);
    } else {
      screen.say(fmt::format("{} is {} again (attempt {}).", short_id(task->id), task->status, task->attempt));
    }
  }
  return outcome.exit();
}

}  // namespace errand::cli
