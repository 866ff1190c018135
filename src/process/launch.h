// Starts a run's child from its keeper.
#pragma once

#include <signal.h>
#include <string>

#include <sys/types.h>

#include "process/client.h"

namespace errand::process {

// What the supervisor and its keepers ignore; the child does not. Everything else is as exec leaves it.
inline constexpr int ignored_signals[] = {SIGPIPE, SIGHUP};

struct ChildSetup {
  const SpawnRequest& request;
  std::string marker;  // "NAME=value" for its environment (run_marker).
  int in = -1, out = -1, err = -1;
  mode_t umask = 022;
};

struct Started {
  pid_t pid = -1;    // -1: nothing runs, and
  std::string text;  // this says why and what to do.
};

// The child has its own session and no terminal, default signals, no core file, and no descriptor but these three.
Started start_child(const ChildSetup& setup);

}  // namespace errand::process
