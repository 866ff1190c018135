#include "serve/agents.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/agents.h"
#include "driver/acp/acp_driver.h"
#include "programs/known.h"
#include "tools/presets.h"

namespace errand::serve {
namespace {

std::vector<Agent> found_agents(const std::map<std::string, Driver*>& drivers,
                                const std::vector<std::string>& environment) {
  std::vector<Agent> agents = {
      {.id = "command", .name = "command", .driver = "command", .description = "Runs a command, without an agent."},
      {.id = "builtin",
       .name = "builtin",
       .driver = "builtin",
       .description = "errand's own agent: works with files, commands and background tasks, on a model of yours."},
      {.id = "demo",
       .name = "demo",
       .driver = "demo",
       .description = "A demonstration: needs no model and shows every kind of event. Ask it for help."}};
  // Before the demonstration: `errand ask` takes the first that can be used.
  for (const char* const driver : {"opencode", "claude"})
    if (drivers.contains(driver))
      agents.insert(
          agents.end() - 1,
          {.id = driver, .name = driver, .driver = driver, .description = programs::find(driver)->description});
  for (Agent& agent : acp::found_agents(environment)) agents.insert(agents.end() - 1, std::move(agent));
  return agents;
}

// [agents.NAME] of the settings file: as the API would take them, and fixed like the found ones.
Result<std::vector<Agent>> file_agents(const std::vector<std::string>& setups) {
  std::vector<Agent> agents;
  for (const std::string& setup : setups) {
    Result<Agent> agent = api::parse_agent(setup);
    if (!agent) return fail(agent.error().code, "errand.toml, agents: " + agent.error().message);
    agent->id = agent->name;
    agent->builtin = true;
    agents.push_back(std::move(*agent));
  }
  return agents;
}

}  // namespace

Result<std::vector<Agent>> all_agents(const std::map<std::string, Driver*>& drivers, const Settings& settings,
                                      const DefaultModel& model, const std::vector<std::string>& environment) {
  std::vector<Agent> agents = found_agents(drivers, environment);
  for (Agent& preset : tools::preset_agents(settings.engine.tools_family)) agents.push_back(std::move(preset));
  Result<std::vector<Agent>> configured = file_agents(settings.agents);
  if (!configured) return configured;
  for (Agent& own : *configured) {
    if (std::ranges::find(agents, own.name, &Agent::name) != agents.end())
      return fail(Code::conflict,
                  fmt::format("errand.toml: agents.{} is the name of an agent that is there already.", own.name));
    agents.push_back(std::move(own));
  }
  for (Agent& agent : agents) {
    if (!drivers.contains(agent.driver))
      agent.unavailable = fmt::format("It runs on the driver \"{}\", which this server does not have.", agent.driver);
    if (agent.driver != "builtin") continue;
    agent.unavailable = model.unavailable;
    if (agent.model.empty()) agent.model = model.name;
  }
  return agents;
}

}  // namespace errand::serve
