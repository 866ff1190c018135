// The tools of the built-in agent, built from what the server has.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/agent_tools.h"
#include "driver/builtin/tool.h"
#include "driver/run/options.h"
#include "http/client.h"
#include "process/client.h"

namespace errand::builtin {

// An MCP server of the settings ([mcp.NAME]): a program, or an address.
struct McpServer {
  std::vector<std::string> command;   // For stdio: the program and its words.
  StringMap env;                      // Variables for it,
  std::vector<std::string> pass_env;  // and names taken from the server's own environment.
  std::string url;                    // For Streamable HTTP.
  StringMap headers;                  // Sent with each request;
  StringMap headers_env;              // these from variables of the server's environment: header to name.
  Millis timeout_ms = 120'000;        // Of one call.
};

struct FetchSettings {
  bool enabled = false;        // In the list of an agent that names no tools.
  bool allow_private = false;  // Also addresses of this machine and of private networks.
};

struct ToolSettings {
  run::Options command;  // As command tasks have them.
  FetchSettings fetch;
  std::map<std::string, McpServer> mcp;  // By name.
};

// All outlive the tools.
struct ToolSetParts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Executor& background;
  Executor& engine;  // The engine's own thread.
  Clock& clock;
  Random& random;
  http::Client* http = nullptr;       // Null: no fetch, and no MCP over HTTP.
  AgentTools* agent_tools = nullptr;  // Null: none of R8's.
};

std::unique_ptr<ToolSet> make_tool_set(ToolSettings settings, ToolSetParts parts);

// Which of `all` an agent that names `wanted` gets: names, and the groups `files` (read, list, glob, grep, write,
// edit), `read_only` (read, list, glob, grep), `shell` (bash), `web` (fetch), `background` (R8's), `skills`, `mcp` (all
// of them; `mcp__NAME` those of one server), `all`. What names nothing is put into `unknown`. Pure.
std::vector<std::string> chosen_tools(const std::vector<std::string>& wanted, const std::vector<std::string>& all,
                                      std::vector<std::string>& unknown);

}  // namespace errand::builtin
