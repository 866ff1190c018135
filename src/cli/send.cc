// errand send: a message to a task. One at work gets it in its conversation; one that is completed goes on with it.
// errand resume: the same for a completed task, and only for such a one (R5.3).
#include <fmt/format.h>

#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

struct Words {
  std::string id, message;  // As they were given.
  std::string when;         // Empty: not said.
  Stay stay = Stay::no;
};

// `said`: what a person is told in the end, without `stay`.
int give(Context& context, const Words& words, std::string_view path,
         std::string (*said)(const std::string& id, const TaskInfo& task)) {
  const Screen& screen = context.screen;
  Result<std::string> message = text_or_stdin(words.message);
  if (!message) return screen.fail(message.error());
  Result<std::string> id = resolve_task(context, words.id);
  if (!id) return screen.fail(id.error());
  std::string body;
  JsonOut out(body);
  out.object().field("message", *message);
  if (!words.when.empty()) out.field("when", words.when);
  out.end();
  Result<std::string> reply = context.client.post(task_path(*id, path), body);
  Result<TaskInfo> task = reply ? parse_task_reply(*reply) : std::unexpected(reply.error());
  if (!task) return screen.fail(task.error());
  if (words.stay != Stay::no || screen.json()) return stay_with(context, *task, task->seq, words.stay, *reply);
  screen.say(said(short_id(*id), *task));
  return code(Exit::ok);
}

}  // namespace

int send(Context& context, const SendArgs& args) {
  return give(context, {args.id, args.message, args.when, args.stay}, "/message",
              [](const std::string& id, const TaskInfo& task) {
                return fmt::format("sent to {} ({}). To watch: errand logs -f {}", id, task.status, id);
              });
}

int resume(Context& context, const ResumeArgs& args) {
  return give(context, {args.id, args.message, {}, args.stay}, "/resume", [](const std::string& id, const TaskInfo&) {
    return fmt::format("{} goes on. To watch: errand logs -f {}", id, id);
  });
}

}  // namespace errand::cli
