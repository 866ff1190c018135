// errand fork: a new task that begins with the conversation of another one.
#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/verbs.h"

namespace errand::cli {

int fork(Context& context, const ForkArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> prompt = text_or_stdin(args.prompt);
  if (!prompt) return screen.fail(prompt.error());
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  Result<TaskInfo> task = get_task(context, *id);
  if (!task) return screen.fail(task.error());
  if (task->kind == "command")
    return screen.fail({Code::conflict, "This task is a command: it has no conversation to fork. Fork an agent's task.",
                        "no_conversation"});
  // What is not said is as the task has it: who works, with what, and where.
  LaunchArgs launched = args.launch;
  launched.parent = task->session_id;
  if (launched.work_dir.empty()) launched.work_dir = task->work_dir;
  if (launched.model.empty() && args.agent.empty()) launched.model = task->model;
  std::string body;
  JsonOut out(body);
  out.object().field("agent_id", args.agent.empty() ? task->agent_id : args.agent).field("message", *prompt);
  out.field("fork", true);
  if (!args.at.empty()) out.field("parent_message_id", args.at);
  if (!args.permission.empty()) out.field("permission", args.permission);
  if (Status written = write_launch(context, out, launched); !written) return screen.fail(written.error());
  out.end();
  return launch(context, body, launched.stay);
}

}  // namespace errand::cli
