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
  int cgroup = -1;  // The group that it begins in; -1: the keeper's.
  int nice = 0;     // Where the request names none.
};

struct Started {
  pid_t pid = -1;    // -1: nothing runs, and
  std::string text;  // this says why and what to do.
};

// The child has its own session and no terminal, default signals, no core file, its limits (limit_watch.h), and no
// descriptor but these three. Where the machine runs out of memory the kernel takes it before errand.
Started start_child(const ChildSetup& setup);

}  // namespace errand::process
