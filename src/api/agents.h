// Agents as requests and replies. Strict: see fields.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/agent.h"

namespace errand::api {

// POST /api/agents and PUT /api/agents/{id}: the whole agent, without its id.
Result<Agent> parse_agent(std::string_view body);

// `default_agent` is the id of the one that does what names none; empty: there is none.
std::string agents_reply(const std::vector<Agent>& agents, std::string_view default_agent);
std::string agent_reply(const Agent& agent);

}  // namespace errand::api
