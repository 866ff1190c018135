// errand tool: calls one of the agents' tools, as an agent would.
#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/files.h"
#include "cli/launch.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {
constexpr Millis longest_wait_ms = 3'660'000;
}

int tool(Context& context, const ToolArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> arguments = text_or_stdin(args.arguments.empty() ? "{}" : args.arguments);
  if (!arguments) return screen.fail(arguments.error());
  if (Status json = check_json(*arguments); !json) return screen.fail(json.error());
  std::string body;
  JsonOut out(body);
  out.object().key("arguments").raw(*arguments);
  if (!args.session.empty()) out.field("session_id", args.session);
  if (!args.message.empty()) out.field("message_id", args.message);
  // A server elsewhere has other folders.
  Result<Target> target = context.client.target();
  if (!target) return screen.fail(target.error());
  if (const std::string here = absolute("."); target->local && here.starts_with('/')) out.field("work_dir", here);
  out.end();
  context.client.set_patience(longest_wait_ms);  // A tool may wait for an hour.
  Result<std::string> reply = context.client.post("/api/tools/" + url_encode(args.name), body);
  Result<ToolReply> result = reply ? parse_tool_reply(*reply) : std::unexpected(reply.error());
  if (!result) return screen.fail(result.error());
  if (screen.json()) {
    screen.out_line(*reply);
  } else {
    screen.out_task_text(result->text + "\n");
  }
  return code(result->is_error ? Exit::failed : Exit::ok);
}

}  // namespace errand::cli
