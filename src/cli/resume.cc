// errand resume: goes on with a completed task, and only with such a one (R5.3).
#include <fmt/format.h>

#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/verbs.h"

namespace errand::cli {

int resume(Context& context, const ResumeArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> message = text_or_stdin(args.message);
  if (!message) return screen.fail(message.error());
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  std::string body;
  JsonOut(body).object().field("message", *message).end();
  Result<std::string> reply = context.client.post(task_path(*id, "/resume"), body);
  Result<TaskInfo> task = reply ? parse_task_reply(*reply) : std::unexpected(reply.error());
  if (!task) return screen.fail(task.error());
  if (args.stay != Stay::no || screen.json()) return stay_with(context, *task, task->seq, args.stay, *reply);
  screen.say(fmt::format("{} goes on; errand logs -f {} shows it.", short_id(*id), short_id(*id)));
  return code(Exit::ok);
}

}  // namespace errand::cli
