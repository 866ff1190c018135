// The agents of a server: found, shipped and configured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "settings/settings.h"
#include "task/agent.h"

namespace errand::serve {

// What the built-in agent works with where nobody says.
struct DefaultModel {
  std::string name;         // Empty: the server that has it is asked when it is needed.
  std::string unavailable;  // Why there is none, as sentences.
};

// With the agents that ship as presets and those of the settings file; one that cannot be used here is listed, and says
// why. `environment`: the server's own, "NAME=value"; agents are found on its PATH.
Result<std::vector<Agent>> all_agents(const std::map<std::string, Driver*>& drivers, const Settings& settings,
                                      const DefaultModel& model, const std::vector<std::string>& environment);

}  // namespace errand::serve
