// The `acp` driver: any agent that speaks the Agent Client Protocol over its standard input and output. A process under
// the supervisor: it goes on when the server stops, dies or is upgraded, and the next server takes the turn up. The
// conversation is the agent's own, under its own session id; the next turn goes on in the same process where it still
// waits (driver/program/holder.h), and resumes or loads the session where it does not.
//
// Which program that is says the agent (task/agent.h), in its option `command`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/timers.h"
#include "driver/acp/wire.h"
#include "driver/driver.h"
#include "driver/program/program_driver.h"
#include "driver/run/options.h"
#include "fork/fork.h"
#include "process/client.h"

namespace errand::acp {

struct AcpOptions {
  // How processes of tasks are started: folders, limits, how they reach this server. An agent has the server's whole
  // environment beside it, for its keys and its home are there.
  run::Options command;
  std::string version;                            // errand's.
  program::McpServers mcp_servers;                // Of a task that has enable_mcp.
  std::function<program::Holder::Bounds()> kept;  // How many processes wait for a further turn. Absent: none.
  program::AskForTurn ask_for_turn = {};          // For one that begins by itself. Absent: it is ended.
  std::function<fork::Limits()> fork_limits = [] { return fork::Limits{}; };  // As they are set now.
};

// All outlive the driver.
struct AcpParts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Clock& clock;
  // Journals are read on the first, files for agents on the second; what they did is told on the engine's. Null: all
  // is done in the call.
  Executor* files = nullptr;
  Executor* background = nullptr;
  Executor* engine = nullptr;
  Driver* artifacts = nullptr;   // Knows what tasks leave in their folders; null: nobody does.
  Programs* programs = nullptr;  // Told of each program; null: nobody asks.
};

std::unique_ptr<Driver> make_acp_driver(AcpOptions options, AcpParts parts);

// The words of a command: a JSON list of texts, or words between blanks, with quotes around those that have some.
// invalid_argument: empty, or a quote is not closed.
Result<std::vector<std::string>> command_words(std::string_view text);

// The agents that are known by name, where their program is on PATH: gemini, codex, and OpenCode's and Claude's ACP
// sides. What is not there is left out; Codex without its adapter is listed as unavailable, with what to install.
std::vector<Agent> found_agents(const std::vector<std::string>& environment);

}  // namespace errand::acp
