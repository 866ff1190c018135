// The keeper: one small process for each run, forked by the supervisor, or one whose run is over. It starts the run's
// child, is the subreaper of everything that comes of it, ends it all, and brings the end to disk. It never touches the
// output. All that may have to wait for the disk is done here and not in the supervisor, which has one thread for all
// runs.
//
// What it may signal: SIGKILL only to its own unreaped children, whose pids cannot be reused; reaping one hands it the
// children of that one; so it goes on in rounds until it has none. SIGTERM also to deeper ones, through pidfds.
// When the supervisor dies it ends the tree at once and writes nothing: the next supervisor calls the run lost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "process/client.h"

namespace errand::process {

struct KeeperSetup {
  const SpawnRequest& request;
  std::string marker;
  pid_t supervisor = 0;
  int control = -1;  // A SOCK_SEQPACKET pair with the supervisor.
  int in = -1, out = -1, err = -1;
  int runs = -1;     // The folder of all runs.
  int cgroups = -1;  // The group of all runs' groups; -1: there is none.
  bool cgroup_memory = false, cgroup_pids = false;
};

// A further run for a keeper that waits; empty where it is too long for a packet.
std::string next_run(const SpawnRequest& request, const std::string& marker);

// In the forked process. The descriptors named in `setup` and 0 to 2 stay, every other one is closed.
[[noreturn]] void keep(const KeeperSetup& setup);

// Supervisor to keeper: one packet a message, this byte first.
enum class KeeperOrder : char {
  stop = 's',    // Then the grace time, int64_t milliseconds.
  record = 'r',  // The output is drained. Then the record of the end: bring log and end to disk, answer, leave or wait.
  next = 'n',    // A further run, to one that waits; then nothing of the last is to be recorded. next_run()'s bytes,
                 // with descriptors for 0, 1 and 2.
};

// Keeper to supervisor: one packet a report.
struct KeeperReport {
  enum Kind : uint8_t {
    started,   // Not at once: a short run is told of in one piece, as gone.
    failed,    // `text`: why there is no child.
    refused,   // `error`: a folder of the run could not be made (or brought to disk); nothing was started.
    gone,      // The whole tree. `waits`: it takes a further run, now or when the end is recorded.
    recorded,  // The end is on disk. `waits`: the same.
    delayed,   // `error`: it could not be written yet; tried again every second.
    used,      // So far: `cpu_us`, `max_memory` (now), `processes`.
  } kind = started;
  RunEnd::How how = RunEnd::How::exited;
  int error = 0;
  int exit_code = 0;
  int signal = 0;
  int64_t at_ms = 0;          // Wall time.
  int64_t started_at_ms = 0;  // The same, of the start; where it is gone.
  int64_t cpu_us = 0;
  int64_t max_memory = 0;
  int processes = 0;
  bool waits = false;
  bool left_nothing = false;  // As in RunEnd; where it is gone.
  char limit[16] = {};        // As in RunEnd.
  int64_t limit_value = 0, limit_seen = 0;
  char text[1024] = {};
};

}  // namespace errand::process
