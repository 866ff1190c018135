// The agents' tools over REST: what `errand tool` and the OpenCode plugin call.
#include "api/query.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"
#include "tools/json.h"

namespace errand::net {
namespace {

bool absent(const Context& context, const Call& call) {
  if (context.parts.tools) return false;
  call.refuse({Code::not_found, "This server has no tools.", "unknown_path"});
  return true;
}

}  // namespace

void list_tools(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  call.answer(200, tools::tools_reply(context.parts.tools->list(), context.parts.tools->family()));
}

void call_tool(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  parse_then(context, std::move(call), tools::parse_call, [&context](Call parsed, tools::CallRequest request) {
    const Principal& who = parsed.request().who;
    request.caller.rights = rights_of(who);
    if (!who.session.empty()) {
      request.caller.session = who.session;
      request.caller.work_dir.clear();  // What a task launches works in that task's folder.
    }
    request.caller.cancellation = std::make_shared<tools::Cancellation>();
    parsed.exchange->on_gone([cancellation = request.caller.cancellation] { cancellation->cancel(); });
    const std::string name = parsed.args[0];
    context.parts.tools->call(name, std::move(request.caller), std::move(request.arguments),
                              answering<tools::ToolResult>(std::move(parsed), 200, tools::result_reply));
  });
}

}  // namespace errand::net
