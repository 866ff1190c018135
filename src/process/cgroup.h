// Control groups (cgroup v2): one for each run, where the supervisor may make one.
//
// A group ends all of its processes in one step (cgroup.kill), whatever they do meanwhile, and counts their CPU time
// exactly. If the controllers for memory and pids are delegated too, the kernel itself enforces these limits. Without
// groups the keeper watches /proc instead (limit_watch.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/client.h"
#include "process/fd.h"

namespace errand::process {

// The group that the runs' groups are in: the supervisor's, below its own.
class CgroupPlace {
 public:
  // `data_dir` names it, so that the next supervisor of the folder finds what this one leaves. Groups that are there
  // already are an earlier one's: what is still in them is ended.
  static CgroupPlace below_own(const std::string& data_dir);
  static CgroupPlace below(const std::string& parent, const std::string& data_dir);
  // Ends what is in the groups of a place that was made by an earlier supervisor, elsewhere perhaps, and removes it.
  static void clear(const std::string& path);

  // A run can have a group.
  bool ok() const { return static_cast<bool>(folder_); }
  int fd() const { return folder_.get(); }
  bool memory() const { return memory_; }
  bool pids() const { return pids_; }
  const std::string& path() const { return path_; }
  const std::string& why_not() const { return why_not_; }

 private:
  std::string path_;
  Fd folder_;
  bool memory_ = false, pids_ = false;
  std::string why_not_;
};

// Of one run. The keeper makes it, and removes it when the run is over.
class Cgroup {
 public:
  // Nothing where it cannot be made. `place` is CgroupPlace::fd().
  static std::optional<Cgroup> make(int place, bool memory, bool pids, const std::string& run, const RunLimits& limits);
  // Of a run whose keeper died: what is in it is ended, and it is removed.
  static void clear(int place, const std::string& run);

  int fd() const { return folder_.get(); }  // For fork_into().
  void kill() const;
  void remove() const;
  // CPU time of all that ever ran in it; -1 where it is not known.
  int64_t cpu_us() const;
  std::vector<pid_t> members() const;  // Without those that have ended and wait to be reaped.
  // The kernel ended something of it for want of memory, or refused it a process.
  bool out_of_memory() const;
  bool out_of_processes() const;

 private:
  int place_ = -1;
  std::string name_;
  Fd folder_;
};

// fork(), with the child in the group from its first instruction on. -1 and errno where this kernel cannot.
pid_t fork_into(int group);
// The same without a copy of the memory: the child calls `run`, which does not return, on a stack of its own, and this
// process waits until it executes a program or ends. `run` may do nothing but system calls.
pid_t fork_into(int group, void (*run)(void*), void* argument);

}  // namespace errand::process
