// The `opencode` driver: agents that run in OpenCode. One `opencode serve` for all tasks, under the supervisor, with a
// password that only this user can read and a port of its own; a session of it for each task. The supervisor keeps it
// when the server stops or dies, and the next one takes it up again with the turns in it. Sessions go with their task.
//
// It is a Conversations too: of the sessions that the plugin looks after; and a ModelList.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/driver.h"
#include "driver/programs.h"
#include "fork/fork.h"
#include "http/client.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::opencode {

struct Options {
  std::string data_dir;                  // What has to be known of the process is in data_dir/opencode/.
  std::string program;                   // opencode, an absolute path.
  std::vector<std::string> environment;  // The server's own, "NAME=value": OpenCode has the user's keys from it.
  // How the journal of a run is opened; absent: from its folder.
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;
  std::function<fork::Limits()> fork_limits = [] { return fork::Limits{}; };  // As they are set now.
};

// All outlive the driver.
struct Parts {
  process::SupervisorClient& supervisor;
  http::Client& http;
  Timers& timers;
  Clock& clock;
  Random& random;
  // Threads for what is soon done in the data folder, and for what takes longer (reading a whole conversation); what
  // they did is told on the engine's. Null: all is done in the call.
  Executor* files = nullptr;
  Executor* background = nullptr;
  Executor* engine = nullptr;
  Programs* programs = nullptr;  // Told of the process; null: nobody asks.
};

std::unique_ptr<Driver> make_opencode_driver(Options options, Parts parts);

// The first `opencode` of PATH; empty where there is none.
std::string find_opencode(const std::vector<std::string>& environment);

}  // namespace errand::opencode
