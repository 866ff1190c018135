// errand ask: something for an agent to do, in the background.
#include <utility>

#include <fmt/format.h>

#include "base/id.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/short_id.h"
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

// "claude", "builtin:qwen2.5:7b": an agent, and a model where one is named.
void write_agents(JsonOut& out, const std::vector<std::string>& agents) {
  out.key("agents").array();
  for (const std::string& entry : agents) {
    const size_t colon = entry.find(':');
    out.object().field("agent_id", entry.substr(0, colon));
    if (colon != std::string::npos) out.field("model", entry.substr(colon + 1));
    out.end();
  }
  out.end();
}

int start_attempts(Context& context, const AskArgs& args, const std::string& prompt) {
  const Screen& screen = context.screen;
  for (const std::string& entry : args.agents)
    if (entry.empty() || entry.starts_with(':') || entry.ends_with(':') || !is_utf8(entry))
      return screen.fail({Code::invalid_argument,
                          "--agents takes names with commas between them, each with a model where one is meant: "
                          "--agents claude,builtin:qwen3",
                          "usage"});
  if (args.agents.size() < 2)
    return screen.fail({Code::invalid_argument, "--agents needs two or more. For one there is --agent.", "usage"});
  std::string body;
  JsonOut out(body);
  out.object();
  write_agents(out, args.agents);
  out.key("launch").object().field("message", prompt);
  if (!args.permission.empty()) out.field("permission", args.permission);
  LaunchArgs launch = args.launch;
  launch.isolate = false;  // All attempts are.
  const std::string base = std::exchange(launch.isolate_base, {}), setup = std::exchange(launch.isolate_setup, {});
  if (Status written = write_launch(context, out, launch); !written) return screen.fail(written.error());
  if (!base.empty()) out.field("isolate_base", base);
  if (!setup.empty()) out.field("isolate_setup", setup);
  out.end().end();
  SystemRandom random;
  Result<std::string> reply = context.client.call("POST", "/api/batches", body, random_secret(random, 18));
  if (!reply) return screen.fail(reply.error());
  const std::string batch = member(*reply, "batch_id");
  if (args.launch.stay == Stay::wait)
    return compare(context, {.batch = batch, .test = {}, .timeout = {}, .wait = true});
  if (screen.json()) {
    screen.out_line(*reply);
    return code(Exit::ok);
  }
  screen.out(batch + "\n");
  screen.say(fmt::format("{} attempts, each in its own work tree. errand compare {} --wait shows what came of them.",
                         args.agents.size(), short_id(batch)));
  return code(Exit::ok);
}

}  // namespace

int ask(Context& context, const AskArgs& args) {
  Result<std::string> prompt = text_or_stdin(args.prompt);
  if (!prompt) return context.screen.fail(prompt.error());
  if (!args.agents.empty()) return start_attempts(context, args, *prompt);
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
