// The MCP servers of agents that are programs, from the server's settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/program/mcp_server.h"
#include "settings/settings.h"
#include "task/task.h"

namespace errand::serve {

// The MCP servers that the program of such an agent gets: errand's own tools, called as the task's session, and those
// of the settings file. `reach`: how what runs in the task finds this server.
std::vector<program::McpServer> agent_servers(const Settings& settings,
                                              const std::map<std::string, std::string>& environment,
                                              const StringMap& reach, const Task& task);

}  // namespace errand::serve
