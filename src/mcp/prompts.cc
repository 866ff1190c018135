#include "mcp/prompts.h"

#include <boost/json.hpp>

#include "base/json_out.h"
#include "mcp/shapes.h"
#include "tools/presets.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view argument_name = "task";

}  // namespace

void list_prompts(const RpcPtr& rpc) {
  if (!rpc->message.text("cursor").empty())
    return rpc->refuse(RpcError{code::invalid_params, "The list has one page: leave out `cursor`.", {}});
  std::string text;
  JsonOut out(text);
  begin_result(out, *rpc);
  out.key("prompts").array();
  for (const Agent& agent : tools::preset_agents(rpc->parts.tools.family())) {
    out.object().field("name", agent.id).field("title", agent.name).field("description", agent.description);
    out.key("arguments").array().object().field("name", argument_name);
    out.field("description", "What to do in the background.").field("required", false).end().end().end();
  }
  out.end();
  cache_for(out, *rpc, fixed_ttl_ms, "public");
  out.end();
  rpc->result(text);
}

void get_prompt(const RpcPtr& rpc) {
  const std::string name = rpc->message.text("name");
  const json::value* arguments = rpc->message.param("arguments");
  std::string task;
  if (arguments && arguments->is_object()) {
    for (const auto& argument : arguments->as_object()) {
      if (argument.key() != argument_name || !argument.value().is_string())
        return rpc->refuse(RpcError{code::invalid_params, "The prompt takes one argument, the text `task`.", {}});
      task = argument.value().as_string();
    }
  }
  std::string known;
  for (const Agent& agent : tools::preset_agents(rpc->parts.tools.family())) {
    known += (known.empty() ? "" : ", ") + agent.id;
    if (agent.id != name) continue;
    std::string text;
    JsonOut out(text);
    begin_result(out, *rpc);
    out.field("description", agent.description).key("messages").array().object().field("role", "user");
    out.key("content").object().field("type", "text");
    out.field("text", task.empty() ? agent.prompt : agent.prompt + "\n\n## The task\n\n" + task)
        .end()
        .end()
        .end()
        .end();
    return rpc->result(text);
  }
  rpc->refuse(RpcError{code::invalid_params, "There is no such prompt; there are: " + known + ".", {}});
}

}  // namespace errand::mcp
