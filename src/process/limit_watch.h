// Watches what a run uses, in its keeper. Who holds which limit:
//
//   memory      the kernel, where the run's group has the controller (memory.max); else it is looked at
//   processes   looked at; the kernel's ceilings above it (pids.max, RLIMIT_NPROC) are for what is too fast to be seen
//   CPU time    looked at (cpu.stat of the group, else /proc); RLIMIT_CPU stands behind it, process by process
//   open files  RLIMIT_NOFILE alone
//
// RLIMIT_AS is not used: it bounds addresses, not memory, and of one process, not of the tree. Runtimes (Go, Java,
// node, sanitizers) reserve far more than they touch; they would fail under it, and a tree of small ones would not.
//
// A look costs a few files of /proc for each process. So it is taken often while something grows towards a limit, and
// seldom where nothing does; but never so often that looking is what keeps the machine busy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "process/cgroup.h"
#include "process/client.h"

namespace errand::process {

struct LimitHit {
  std::string limit;  // As RunEnd::limit.
  int64_t value = 0;
  int64_t seen = 0;
  std::string text;  // One sentence for people.
};

// What a look saw.
struct Look {
  double cpu_s = 0;
  int64_t memory_bytes = 0;
  int64_t processes = 0;
  int64_t at_ms = 0;  // Steady.
};

// When to look again, from two looks one after the other and what the later one cost: halfway to the nearest limit, at
// the speed that was seen, within bounds.
Millis next_look_ms(const RunLimits& limits, const Look& before, const Look& now, Millis cost_ms);

class LimitWatch {
 public:
  // Of everything below the calling process. `group`, where there is one, outlives it.
  LimitWatch(const RunLimits& limits, const Cgroup* group);

  // When look() is due, steady.
  int64_t due() const { return due_; }
  // Looks, and answers what is over its limit.
  std::optional<LimitHit> look();
  // What ended by itself: was it the kernel, for a limit? `signal` is what the main process died of.
  std::optional<LimitHit> behind(int signal, double cpu_s) const;
  // What was seen last, where it is worth telling: it has moved, and nothing was told for three seconds.
  std::optional<RunUsage> to_tell();
  int64_t peak_memory() const { return peak_memory_; }

 private:
  Look see() const;
  int64_t shared_once(const Look& look);
  LimitHit hit(const char* limit, int64_t value, int64_t seen) const;

  const RunLimits limits_;
  const Cgroup* const group_;
  Look last_;
  Look told_;
  bool told_once_ = false;
  int64_t due_ = 0;
  int64_t peak_memory_ = 0;
  // Memory without what is counted twice: asked for only when the cheap sum is over the limit, and then not at once
  // again.
  int64_t exact_at_sum_ = 0, exact_at_ms_ = 0, exact_ = 0;
};

}  // namespace errand::process
