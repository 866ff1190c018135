// The `claude` driver: agents that run in Claude Code. A program under the supervisor, driven over its pipes as the
// Claude Agent SDK drives it; the next turn goes on in it where it still waits (driver/program/holder.h), and resumes
// its conversation where it does not. The supervisor keeps it when the server stops or dies, and the next server takes
// the turn up where the checkpoint stands. Conversations stay with Claude Code, under ~/.claude, where `claude
// --resume` finds them too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/claude/start.h"
#include "driver/driver.h"
#include "driver/program/program_driver.h"
#include "driver/run/options.h"
#include "process/client.h"

namespace errand::claude {

struct Options {
  run::Options command;             // As commands of the task are run: environment, folders, artifacts.
  std::string program;              // Absolute.
  program::McpServers mcp_servers;  // Of a task that has enable_mcp. Absent: Claude Code gets none of errand's.
  std::function<program::Holder::Bounds()> kept;  // How many programs wait for a further turn. Absent: none.
  program::AskForTurn ask_for_turn = {};          // For one that begins by itself. Absent: it is ended.
};

// All outlive the driver.
struct Parts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Clock& clock;
  Random& random;
  Executor* files = nullptr;  // What is soon done in the data folder. Null, as `engine` then is: in the call.
  Executor* engine = nullptr;
  Driver* artifacts = nullptr;   // Knows what tasks leave in their folders; null: nobody does.
  Programs* programs = nullptr;  // Told of each program; null: nobody asks.
};

std::unique_ptr<Driver> make_claude_driver(Options options, Parts parts);

// Where Claude Code is not found any more: nobody can take up the programs that an earlier server left at work, so they
// are ended. `supervisor` outlives the answer.
void end_left_programs(process::SupervisorClient& supervisor);

}  // namespace errand::claude
