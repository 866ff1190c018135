// Which agent does what names none. One rule for the command line, the page and agents' tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/agent.h"

namespace errand {

// The id of the agent that `wished` (the setting default_agent) names, or, where that is "auto", of the first that can
// be used. The demonstration only where it is wished by name: nobody shall take it for work. not_found, reason
// `no_agent`: none can be used; unavailable, reason `default_agent`: the one that is wished cannot be used now, and
// nobody chose another.
Result<std::string> default_agent(const std::vector<Agent>& agents, std::string_view wished);

}  // namespace errand
