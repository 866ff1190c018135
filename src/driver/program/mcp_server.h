// The MCP servers that an agent's program is to use: errand's own tools, and those that the user has set up for errand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "task/task.h"

namespace errand::program {

struct McpServer {
  std::string name;
  std::vector<std::string> command;
  StringMap env;
  std::string url;  // Over HTTP, instead of a command;
  StringMap headers;
};

// Those of a task that has enable_mcp, found anew for each start of a program: errand itself may have been upgraded in
// its place meanwhile.
using McpServers = std::function<std::vector<McpServer>(const Task&)>;

}  // namespace errand::program
