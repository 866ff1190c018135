// errand ask: something for an agent to do, in the background.
#include <fmt/format.h>

#include "cli/launch.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

// The server's default. The demonstration answers only who asks for it: nobody shall take it for work.
Result<std::string> choose_agent(Context& context) {
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return std::unexpected(body.error());
  Result<std::vector<AgentInfo>> agents = parse_agents(*body);
  if (!agents) return std::unexpected(agents.error());
  if (std::string usual = member(*body, "default_agent"); !usual.empty()) return usual;
  bool demo = false, others = false;
  for (const AgentInfo& agent : *agents) {
    if (agent.id == "command" || !agent.unavailable.empty()) continue;
    (agent.id == "demo" ? demo : others) = true;
  }
  if (others)
    return fail(Code::unavailable,
                "The default agent cannot be used: errand agents says why. Name another one with --agent, or choose "
                "another default: errand setup",
                "default_agent");
  return fail(Code::not_found,
              fmt::format("No agent is set up that could do this.\n"
                          "  errand setup asks for a model's key or address and tries it.\n"
                          "  Or install claude, codex, gemini or opencode, and type errand restart.\n"
                          "errand agents says what was looked for.{}",
                          demo ? " To see a demonstration: errand ask --agent demo \"...\"" : ""),
              "no_agent");
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
