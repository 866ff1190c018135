// errand ask: something for an agent to do, in the background.
#include "cli/launch.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

// The first that is not a command; the demonstration only where there is nothing else.
Result<std::string> choose_agent(Context& context) {
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return std::unexpected(body.error());
  Result<std::vector<AgentInfo>> agents = parse_agents(*body);
  if (!agents) return std::unexpected(agents.error());
  std::string demo;
  for (const AgentInfo& agent : *agents) {
    if (agent.id == "command" || !agent.unavailable.empty()) continue;
    if (agent.id != "demo") return agent.id;
    demo = agent.id;
  }
  if (demo.empty())
    return fail(Code::not_found, "The server has no agents. errand doctor says what it looked for.", "no_agent");
  context.screen.say("no model or agent is set up, so the demo agent answers. errand agents says what is missing.");
  return demo;
}

}  // namespace

int ask(Context& context, const AskArgs& args) {
  Result<std::string> prompt = text_or_stdin(args.prompt);
  if (!prompt) return context.screen.fail(prompt.error());
  Result<std::string> agent = args.agent.empty() ? choose_agent(context) : args.agent;
  if (!agent) return context.screen.fail(agent.error());
  std::string body;
  JsonOut out(body);
  out.object().field("agent_id", *agent).field("message", *prompt);
  if (!args.permission.empty()) out.field("permission", args.permission);
  if (Status written = write_launch(context, out, args.launch); !written) return context.screen.fail(written.error());
  out.end();
  return launch(context, body, args.launch.stay);
}

}  // namespace errand::cli
