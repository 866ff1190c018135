// errand ask: something for an agent to do, in the background.
#include <fmt/format.h>

#include "cli/launch.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

// The first that is not a command. The demonstration answers only who asks for it: nobody shall take it for work.
Result<std::string> choose_agent(Context& context) {
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return std::unexpected(body.error());
  Result<std::vector<AgentInfo>> agents = parse_agents(*body);
  if (!agents) return std::unexpected(agents.error());
  bool demo = false;
  for (const AgentInfo& agent : *agents) {
    if (agent.id == "command" || !agent.unavailable.empty()) continue;
    if (agent.id != "demo") return agent.id;
    demo = true;
  }
  return fail(
      Code::not_found,
      fmt::format("No agent is set up that could do this.\n"
                  "  A model:  set ANTHROPIC_API_KEY or OPENAI_API_KEY (or OPENAI_BASE_URL) and type errand restart\n"
                  "  An agent: install claude, codex, gemini or opencode, and type errand restart\n"
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
