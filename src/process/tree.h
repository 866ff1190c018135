// Process trees, seen through /proc.
//
// A pid may be signalled only where it cannot have been reused: an own child that was not reaped yet, or, deeper, a
// process held by a pidfd whose parent was found to be in the tree after the pidfd was opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "process/client.h"

namespace errand::process {

struct ProcessStat {
  pid_t parent = 0;
  char state = 0;
  int64_t cpu_ticks = 0;         // Its own.
  int64_t reaped_cpu_ticks = 0;  // Of the children that it has waited for.
  int64_t start_ticks = 0;
  int64_t resident_bytes = 0;
};

// False where the process is gone.
bool read_stat(pid_t pid, ProcessStat& stat);

// What it has in memory; 0 where it is gone. Waits for nothing that the process does, as read_stat() may.
int64_t resident_bytes(pid_t pid);

// Bytes that it read and wrote, with those of the children that it waited for; 0 where they may not be known.
int64_t read_io(pid_t pid);

// Direct children of a process, by any of its threads.
std::vector<pid_t> children_of(pid_t pid);

// SIGTERM to every descendant of the calling process, parents first, but for those that are less than `spare` levels
// below it. Must not be interleaved with reaping.
void terminate_descendants(int spare = 0);
// SIGSTOP to every descendant, again until there is no new one: a stopped process starts no other. Gives up after a
// while.
void stop_descendants();
// SIGKILL to the own children that are not in `spare`. Returns how many there are.
int kill_children(const std::vector<pid_t>& spare = {});

// Everything below `root` (which itself counts for nothing but the children that it reaped).
RunUsage usage_below(pid_t root);

// Ends what still carries `marker` ("NAME=value") in its environment: the last sweep, for a tree that lost its keeper
// and its supervisor at once. Returns how many it found.
int kill_marked(const std::string& marker);

}  // namespace errand::process
