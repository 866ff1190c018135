// Agents and settings as requests and replies. Strict: see fields.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "task/agent.h"

namespace errand::api {

// POST /api/agents and PUT /api/agents/{id}: the whole agent, without its id.
Result<Agent> parse_agent(std::string_view body);
// PATCH /api/settings: what is to change.
Result<SettingsChange> parse_settings_change(std::string_view body);

std::string agents_reply(const std::vector<Agent>& agents);
std::string agent_reply(const Agent& agent);
std::string settings_reply(const EngineSettings& settings);

}  // namespace errand::api
