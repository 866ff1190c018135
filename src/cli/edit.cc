// errand edit: how people keep their records. Nothing of the work changes.
#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/act_on.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/verbs.h"

namespace errand::cli {
namespace {

Result<std::string> body_of(const EditArgs& args) {
  std::string body;
  JsonOut out(body);
  out.object();
  if (!args.title.empty()) out.field("title", args.title);
  if (!args.labels.empty() || !args.unlabels.empty()) {
    out.key("labels").object();
    for (const std::string& label : args.labels) {
      const size_t equals = label.find('=');
      if (equals == std::string::npos || equals == 0)
        return fail(Code::invalid_argument, fmt::format("--label {} has no value: write NAME=VALUE.", label), "usage");
      out.field(label.substr(0, equals), label.substr(equals + 1));
    }
    for (const std::string& name : args.unlabels) out.key(name).null();
    out.end();
  }
  if (args.pinned) out.field("pinned", *args.pinned);
  if (args.archived) out.field("archived", *args.archived);
  out.end();
  return body;
}

}  // namespace

int edit(Context& context, const EditArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> body = body_of(args);
  if (!body) return screen.fail(body.error());
  Outcome outcome;
  for (const std::string& text : args.ids) {
    const Result<std::string> id = resolve_task(context, text);
    const Result<std::string> reply =
        id ? context.client.call("PATCH", task_path(*id), *body) : std::unexpected(id.error());
    const Result<TaskInfo> task = reply ? parse_task_reply(*reply) : std::unexpected(reply.error());
    if (!task) {
      outcome.failed(screen, task.error());
    } else if (screen.json()) {
      screen.out_line(*reply);
    } else {
      screen.say(fmt::format("{} {}", short_id(task->id), task->title));
    }
  }
  return outcome.exit();
}

}  // namespace errand::cli
