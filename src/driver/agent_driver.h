// What the drivers of agents answer alike. Pure.
#pragma once

#include <string>

#include "driver/driver.h"

namespace errand {

// What errand relies on with every agent, its own or somebody's program.
Capabilities agent_capabilities();
// A launch for an agent has a prompt, not a command. Otherwise invalid_argument: no agent can run it.
Status check_prompt(const Launch& launch);

// What an agent's program is told of a message: its texts, and notices as the built-in agent has them.
std::string words_of(const Message& message);
// It only tells something (R5.5), and asks for no answer.
bool is_note(const Message& message);

}  // namespace errand
