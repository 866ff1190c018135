// The `command` driver: a process under the supervisor, its output as events (spec section 9).
//
// The process belongs to the supervisor, not to this one: a server that stops, crashes or is replaced takes the run up
// again where its checkpoint stands. A run's folder stays until its task is removed, so that its log can be read.
#pragma once

#include <memory>

#include "base/executor.h"
#include "base/timers.h"
#include "driver/driver.h"
#include "driver/run/options.h"
#include "process/client.h"

namespace errand::command {

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

std::unique_ptr<Driver> make_command_driver(run::Options options, CommandParts parts);

}  // namespace errand::command
