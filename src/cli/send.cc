// errand send: a message to a task. One at work gets it in its conversation; one that is completed goes on with it.
#include <fmt/format.h>

#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/verbs.h"

namespace errand::cli {

int send(Context& context, const SendArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> message = text_or_stdin(args.message);
  if (!message) return screen.fail(message.error());
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  std::string body;
  JsonOut out(body);
  out.object().field("message", *message);
  if (!args.when.empty()) out.field("when", args.when);
  out.end();
  Result<std::string> reply = context.client.post(task_path(*id, "/message"), body);
  Result<TaskInfo> task = reply ? parse_task_reply(*reply) : std::unexpected(reply.error());
  if (!task) return screen.fail(task.error());
  if (args.stay != Stay::no || screen.json()) return stay_with(context, *task, task->seq, args.stay, *reply);
  screen.say(fmt::format("sent to {} ({}); errand logs -f {} shows what comes of it.", short_id(*id), task->status,
                         short_id(*id)));
  return code(Exit::ok);
}

}  // namespace errand::cli
