// What the drivers of agents answer alike. Pure.
#pragma once

#include "driver/driver.h"

namespace errand {

// What errand relies on with every agent, its own or somebody's program.
Capabilities agent_capabilities();
// A launch for an agent has a prompt, not a command. Otherwise invalid_argument: no agent can run it.
Status check_prompt(const Launch& launch);

}  // namespace errand
