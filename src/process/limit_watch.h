// Watches what a run uses, in its keeper. How each limit is enforced:
//
//   memory      by the kernel, if the run's group has the controller (memory.max); else by looks
//   processes   by looks; the kernel's higher ceilings (pids.max, RLIMIT_NPROC) stop what is too fast for them
//   CPU time    by looks (cpu.stat of the group, else /proc); RLIMIT_CPU also bounds each process
//   open files  by RLIMIT_NOFILE alone
//
// RLIMIT_AS is not used: it bounds addresses, not memory, and of one process, not of the tree. Runtimes (Go, Java,
// node, sanitizers) reserve far more than they touch; they would fail under it, and a tree of small ones would not.
//
// A look reads a few files of /proc for each process. So the watch looks often while something grows towards a limit,
// seldom otherwise, and never so often that looking itself keeps the machine busy.
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

// When to look again, from two looks one after the other and what the later one cost (CPU time): halfway to the nearest
// limit, at the speed that was seen, within bounds.
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
  // What the last look saw, if it is worth reporting: it has changed, and nothing was reported for three seconds.
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
