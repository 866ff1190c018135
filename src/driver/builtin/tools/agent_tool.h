// The tools that errand offers to every agent (R8: background_task, background_output, ...), as tools of the built-in
// one.
#pragma once

#include <memory>
#include <vector>

#include "driver/agent_tools.h"
#include "driver/builtin/tool.h"

namespace errand::builtin {

// `tools` outlives them. One for each that it lists now.
std::vector<std::unique_ptr<Tool>> make_agent_tools(AgentTools& tools);

}  // namespace errand::builtin
