// The supervisor: the process that owns every child process, its pipes and its journal. `errand supervisor` runs it;
// the server finds or starts it and talks to it through SupervisorClient (client.h).
//
// It is small, single-threaded and decides nothing by itself. It goes on when the server stops, crashes or is replaced.
// What it promises is in docs/decisions/0002-supervisor.md and at the head of supervisor.cc.
#pragma once

#include <string>

namespace errand::process {

struct SupervisorOptions {
  std::string data_dir;            // Its socket is data_dir/supervisor.sock, its runs are data_dir/run/.
  int64_t idle_exit_ms = 10'000;   // It exits after this time without runs and without a server.
  int64_t orphan_ms = 86'400'000;  // After this time without a server it ends all runs and exits. A server may set it.
  bool cgroups = true;             // Runs have control groups, where they can be made.
};

// Runs until it has nothing left to do. Returns the exit code.
int run_supervisor(const SupervisorOptions& options);

}  // namespace errand::process
