// Agents as requests and replies. Strict: see fields.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "driver/driver.h"
#include "driver/model_list.h"
#include "task/agent.h"

namespace errand::api {

// POST /api/agents and PUT /api/agents/{id}: the whole agent, without its id.
Result<Agent> parse_agent(std::string_view body);

// The program that an agent runs in, as it is on the server's machine now.
struct AgentProgram {
  std::string name;               // As people call it.
  std::string path;               // Empty: it is not there.
  std::string version;            // Empty: not known.
  std::optional<bool> logged_in;  // As far as can be seen; absent: it may do without, or nobody knows where to look.
  std::string login;              // By what, as the rest of a sentence.
  std::string log_in;             // What to do to log in.
  Millis start_ms = 0;  // Its last start, and what its last process used; 0: not seen since the server started.
  int64_t memory_bytes = 0;
  int64_t running = 0;  // Processes at work, and those that wait for a further turn.
  int64_t waiting = 0;
  int64_t waiting_memory_bytes = 0;
};
// What is known of an agent at this moment, beside how it is set up.
struct AgentMoment {
  Capabilities capabilities;
  std::optional<AgentProgram> program;  // Absent: it is no program.
};

// A moment for each agent, in the same order. `default_agent` is the id of the one that does what names none; empty:
// there is none.
std::string agents_reply(const std::vector<Agent>& agents, const std::vector<AgentMoment>& moments,
                         std::string_view default_agent);
std::string agent_reply(const Agent& agent, const AgentMoment& moment);
// GET /api/agents/{id}/models.
std::string models_reply(const ListedModels& listed);

}  // namespace errand::api
