// errand agents: who can be asked; and agents of one's own.
#include <algorithm>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "cli/artifact_info.h"
#include "cli/launch.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"
#include "cli/wrap.h"

namespace errand::cli {
namespace {

int list_agents(Context& context) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<std::vector<AgentInfo>> agents = parse_agents(*body);
  if (!agents) return screen.fail(agents.error());
  const std::string usual = member(*body, "default_agent");
  std::vector<std::vector<Cell>> rows;
  std::vector<std::pair<std::string, std::string>> missing;  // Why, and who: many wait for the same.
  for (const AgentInfo& agent : *agents) {
    const bool usable = agent.unavailable.empty();
    const bool short_words = screen.out_is_terminal() && !usable;
    const std::string words = usable        ? agent.description
                              : short_words ? "(not available) " + agent.description
                                            : "(not available: " + agent.unavailable + ") " + agent.description;
    // A configured one's id is made by the server: people call it by its name.
    const std::string name = agent.id.starts_with("agent_") ? agent.name : agent.id;
    if (!usable) {
      const auto same = std::ranges::find(missing, agent.unavailable, &std::pair<std::string, std::string>::first);
      if (same == missing.end()) {
        missing.emplace_back(agent.unavailable, name);
      } else {
        same->second += ", " + name;
      }
    }
    const AgentProgramInfo program = agent.program.value_or(AgentProgramInfo());
    const std::string_view login = !program.logged_in ? "" : *program.logged_in ? "yes" : "no";
    const bool marked = screen.out_is_terminal() && agent.id == usual;
    rows.push_back({{name + (marked ? " (default)" : ""), usable ? "1" : "2"},
                    {agent.driver, ""},
                    {agent.model, ""},
                    {program.version, ""},
                    {std::string(login), login == "no" ? "33" : ""},
                    {words, "2"}});
  }
  screen.out(screen.out_is_terminal()
                 ? render_table({{"AGENT"}, {"DRIVER"}, {"MODEL", 10}, {"VERSION"}, {"LOGIN"}, {"DESCRIPTION", 20}},
                                rows, {screen.width(), screen.colours(), true})
                 : render_tabs(rows));
  // In a table of 80 columns nobody can read why.
  if (screen.out_is_terminal())
    for (const auto& [why, who] : missing)
      screen.out("\n" + fit_help(fmt::format("{}: {}", who, why), screen.width()) + "\n");
  return code(Exit::ok);
}

// The API's names as people say it.
std::string ability_text(std::string_view name) {
  if (name == "message_while_running") return "takes messages while it works";
  if (name == "resume") return "goes on with a conversation";
  if (name == "fork") return "forks";
  if (name == "reattach") return "goes on after a restart of the server";
  if (name == "permissions") return "asks for permission";
  return std::string(name);
}

// In the words of this surface.
Error no_agent(const Error& error, const std::string& name) {
  if (error.code != Code::not_found) return error;
  return {error.code, fmt::format("No agent has the name \"{}\": errand agents lists them.", name), error.reason};
}

int show_agent(Context& context, const std::string& path, const std::string& name) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get(path);
  if (!body) return screen.fail(no_agent(body.error(), name));
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<AgentInfo> agent = parse_agent(*body);
  if (!agent) return screen.fail(agent.error());
  std::string text;
  const auto row = [&](std::string_view name, const std::string& words) {
    if (!words.empty()) text += fmt::format("{:<12}{}\n", name, shown_line(words));
  };
  row("agent", agent->name);
  row("", agent->description);
  row("unavailable", agent->unavailable);
  row("driver", agent->driver);
  row("model", agent->model);
  std::string abilities;
  for (const std::string& ability : agent->abilities)
    abilities += (abilities.empty() ? "" : ", ") + ability_text(ability);
  row("can", abilities);
  if (agent->program) {
    const AgentProgramInfo& program = *agent->program;
    row("program", program.path.empty() ? program.name + ", which is not here" : program.path);
    row("version", program.version);
    row("login", program.logged_in == false ? "none is found. " + program.log_in : program.login);
    if (program.start_ms > 0)
      row("start", fmt::format("{:.1f} s, the last time", static_cast<double>(program.start_ms) / 1e3));
    if (program.memory_bytes > 0) row("memory", size_text(program.memory_bytes) + ", its last process");
    if (program.running + program.waiting > 0)
      row("now", fmt::format("{} at work, {} waiting for a further turn{}", program.running, program.waiting,
                             program.waiting > 0 ? fmt::format(" ({})", size_text(program.waiting_memory_bytes)) : ""));
  }
  screen.out(text);
  return code(Exit::ok);
}

int list_models(Context& context, const std::string& path, const std::string& agent) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get(path + "/models");
  if (!body) return screen.fail(no_agent(body.error(), agent));
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::string& model : elements(*body, "models"))
    rows.push_back({{member(model, "id"), ""}, {member(model, "name"), "2"}});
  screen.out(screen.out_is_terminal() && !rows.empty()
                 ? render_table({{"MODEL", 20}, {"NAME", 10}}, rows, {screen.width(), screen.colours(), true})
                 : render_tabs(rows));
  if (rows.empty())
    screen.say(fmt::format("{} lists no models. One can be named all the same: errand ask --agent {} --model NAME",
                           agent, agent));
  return code(Exit::ok);
}

}  // namespace

int agents(Context& context, const AgentsArgs& args) {
  const Screen& screen = context.screen;
  if (args.action == AgentsAction::list) return list_agents(context);
  const std::string path = "/api/agents" + (args.name.empty() ? std::string() : "/" + url_encode(args.name));
  if (args.action == AgentsAction::show) return show_agent(context, path, args.name);
  if (args.action == AgentsAction::models) return list_models(context, path, args.name);
  if (args.action == AgentsAction::remove) {
    Result<std::string> gone = context.client.call("DELETE", path);
    if (!gone) return screen.fail(gone.error());
    if (!screen.json()) screen.out_line(fmt::format("removed {}", args.name));
    return code(Exit::ok);
  }
  Result<std::string> setup = text_or_stdin(args.setup);
  if (!setup) return screen.fail(setup.error());
  if (Status json = check_json(*setup); !json) return screen.fail(json.error());
  const bool adds = args.action == AgentsAction::add;
  Result<std::string> body = context.client.call(adds ? "POST" : "PUT", path, *setup);
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<AgentInfo> agent = parse_agent(*body);
  if (!agent) return screen.fail(agent.error());
  screen.out_line(fmt::format("{} {} ({})", adds ? "added" : "changed", agent->name, agent->id));
  return code(Exit::ok);
}

}  // namespace errand::cli
