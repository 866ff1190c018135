// The `command` driver: a process under the supervisor, its output as events (spec section 9).
//
// The process belongs to the supervisor, not to this one: a server that stops, crashes or is replaced takes the run up
// again where its checkpoint stands. A run's folder stays until its task is removed, so that its log can be read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/timers.h"
#include "driver/command/artifacts.h"
#include "driver/driver.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::command {

struct CommandOptions {
  std::string data_dir;                  // Runs are in data_dir/run/, artifacts in data_dir/artifacts/TASK/.
  std::vector<std::string> environment;  // The server's own, "NAME=value": some of it is passed on,
  std::vector<std::string> env_allow;    // and of it this too (environment.h).
  std::vector<std::string> work_dirs;    // Folders that commands may work in, with all below them; empty: any.
  int umask = 022;                       // Of the commands.
  Millis default_timeout_ms = 300'000;   // R4.3.
  int64_t output_limit = 64LL << 20;     // Bytes of a log that are kept where the launch does not say (R9.3).
  Millis grace_ms = 3'000;               // From SIGTERM to SIGKILL.
  ArtifactLimits artifacts = {};         // What is kept of what a task leaves.
  // Further variables of what is started for a task: how it reaches this server, as that task. Absent: none.
  std::function<StringMap(const Task&)> reach;
  // How a run's journal is opened; absent: from its folder. Any thread.
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;
};

// All outlive the driver.
struct CommandParts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Executor& background;  // For what may take a while: gathering and removing a task's artifacts.
  // The engine's own thread: what the background has done is told there. Null: all of it is done in the call.
  Executor* engine = nullptr;
  // For what is soon done in the data folder, and not to wait behind that: logs, folders for artifacts. Null: the same.
  Executor* files = nullptr;
  // For folders that launches name, which may hang. Null: the same.
  Executor* folders = nullptr;
};

std::unique_ptr<Driver> make_command_driver(CommandOptions options, CommandParts parts);

// "<task>.<run>": the run's name at the supervisor.
std::string run_name(const TaskId& task, int run);
// Where a task may leave files (R9.4); its own processes know it as ERRAND_ARTIFACTS.
std::string artifact_folder(const std::string& data_dir, const TaskId& task);

}  // namespace errand::command
