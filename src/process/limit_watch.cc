#include "process/limit_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "process/clock.h"
#include "process/fd.h"
#include "process/tree.h"

namespace errand::process {
namespace {

constexpr Millis first_look_ms = 5;
constexpr Millis soonest_ms = 5;
constexpr Millis latest_ms = 100;       // Where something can be over its limit,
constexpr Millis unlimited_ms = 2'000;  // and where nothing can: only to tell what is used.
constexpr Millis tell_first_ms = 200;   // Soon, so that what its start cost is not taken for later work.
constexpr Millis tell_every_ms = 3'000;
constexpr Millis exact_again_ms = 500;
constexpr int64_t told_memory_step = 256 * 1024;
constexpr double told_cpu_step = 0.01;  // The kernel's own step, mostly.
constexpr int64_t walk_max = 20'000;
constexpr Millis dearest_ms = 500;  // However much looks cost: what multiplies is not left alone for longer.

// Past its limit by this much nobody needs to know how many there are.
size_t walk_most(const RunLimits& limits) {
  return static_cast<size_t>(limits.processes > 0 ? std::min(walk_max, limits.processes * 2 + 64) : walk_max);
}

double processors() {
  static const double count = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return count;
}

bool anything(const RunLimits& limits) { return limits.cpu_s > 0 || limits.memory_bytes > 0 || limits.processes > 0; }

// Resident memory with its part of what is shared; -1 where this may not be read.
int64_t proportional_bytes(pid_t pid) {
  char path[40];
  std::snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
  Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  char text[2048];
  ssize_t n = fd ? ::read(fd.get(), text, sizeof text - 1) : -1;
  if (n <= 0) return -1;
  text[n] = '\0';
  const char* line = std::strstr(text, "\nPss:");
  long long kilobytes = 0;
  return line && std::sscanf(line, "\nPss: %lld kB", &kilobytes) == 1 ? kilobytes * 1024 : -1;
}

// The time that this process used, not what it waited: on a machine that is full of others that is no cost of looking.
Millis cpu_ms() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return Millis{used.tv_sec} * 1'000 + used.tv_nsec / 1'000'000;
}

// At most `most`: a tree may grow faster than it is walked, and the walk would never end.
template <class Visit>
void for_each_below(size_t most, Visit visit) {
  std::vector<pid_t> pids = children_of(::getpid());
  for (size_t i = 0; i < pids.size() && i < most; ++i) {
    ProcessStat stat;
    if (!read_stat(pids[i], stat)) continue;
    visit(pids[i], stat);
    if (pids.size() < most)
      for (pid_t child : children_of(pids[i])) pids.push_back(child);
  }
}

}  // namespace

Millis next_look_ms(const RunLimits& limits, const Look& before, const Look& now, Millis cost_ms) {
  const double passed = static_cast<double>(std::max<int64_t>(now.at_ms - before.at_ms, 1));
  double soonest = anything(limits) ? latest_ms : unlimited_ms;
  auto near = [&](int64_t limit, double was, double is) {
    if (limit <= 0 || is <= was) return;
    soonest = std::min(soonest, (static_cast<double>(limit) - is) / ((is - was) / passed) / 2);
  };
  near(limits.memory_bytes, static_cast<double>(before.memory_bytes), static_cast<double>(now.memory_bytes));
  near(limits.processes, static_cast<double>(before.processes), static_cast<double>(now.processes));
  // CPU time can at once be used on every processor.
  if (limits.cpu_s > 0)
    soonest = std::min(soonest, (static_cast<double>(limits.cpu_s) - now.cpu_s) * 1'000 / processors() + soonest_ms);
  // What multiplies does not go at the speed that was seen: it is looked at again at once. And after a start, or after
  // something grew, the waits become longer step by step.
  auto multiplies = [](double was, double is, double step) { return is >= was + step && is > was * 1.25; };
  const bool grows = (limits.processes > 0 &&
                      multiplies(static_cast<double>(before.processes), static_cast<double>(now.processes), 4)) ||
                     (limits.memory_bytes > 0 &&
                      multiplies(static_cast<double>(before.memory_bytes), static_cast<double>(now.memory_bytes),
                                 static_cast<double>(limits.memory_bytes) / 64));
  if (anything(limits)) soonest = grows ? std::min<double>(soonest, soonest_ms) : std::min(soonest, 2 * passed);
  // A big tree is not walked ten times a second for nothing.
  if (!grows) soonest = std::max(soonest, std::min<double>(20 * static_cast<double>(cost_ms), 1'000));
  const Millis least = std::clamp(2 * cost_ms, soonest_ms, dearest_ms);
  return std::max(least, static_cast<Millis>(std::max(soonest, 0.0)));
}

LimitWatch::LimitWatch(const RunLimits& limits, const Cgroup* group) : limits_(limits), group_(group) {
  last_.at_ms = told_.at_ms = steady_ms();
  due_ = last_.at_ms + (anything(limits) ? first_look_ms : unlimited_ms);
}

// Where there is a group the kernel lists its processes and counts their time, and none is asked for its `stat`: the
// kernel holds that answer back while the process is in an exec, and in a bomb's crowd it may not come to the end of
// one for half a minute.
Look LimitWatch::see() const {
  Look look;
  if (const int64_t cpu_us = group_ ? group_->cpu_us() : -1; cpu_us >= 0) {
    const std::vector<pid_t> members = group_->members();
    look.processes = static_cast<int64_t>(members.size());
    look.cpu_s = static_cast<double>(cpu_us) / 1e6;
    for (size_t i = 0; i < members.size() && i < walk_most(limits_); ++i)
      look.memory_bytes += resident_bytes(members[i]);
  } else {
    int64_t ticks = 0;
    ProcessStat self;
    if (read_stat(::getpid(), self)) ticks += self.reaped_cpu_ticks;
    for_each_below(walk_most(limits_), [&](pid_t, const ProcessStat& stat) {
      ticks += stat.cpu_ticks + stat.reaped_cpu_ticks;
      if (stat.state == 'Z') return;
      look.memory_bytes += stat.resident_bytes;
      ++look.processes;
    });
    static const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    look.cpu_s = static_cast<double>(ticks) / ticks_per_second;
  }
  look.at_ms = steady_ms();
  return look;
}

// The sum over all processes counts what they share again and again: a server with forty workers is not forty times as
// big. So where the sum is over the limit, the kernel is asked for the exact number, which costs more.
int64_t LimitWatch::shared_once(const Look& look) {
  if (look.memory_bytes <= limits_.memory_bytes) return look.memory_bytes;
  const bool again =
      look.memory_bytes > exact_at_sum_ + exact_at_sum_ / 20 || look.at_ms - exact_at_ms_ > exact_again_ms;
  if (!again) return std::min(look.memory_bytes, exact_);
  exact_ = 0;
  for_each_below(walk_most(limits_), [&](pid_t pid, const ProcessStat& stat) {
    const int64_t bytes = stat.state == 'Z' ? 0 : proportional_bytes(pid);
    exact_ += bytes < 0 ? stat.resident_bytes : bytes;
  });
  exact_at_sum_ = look.memory_bytes;
  exact_at_ms_ = look.at_ms;
  return exact_;
}

LimitHit LimitWatch::hit(const char* limit, int64_t value, int64_t seen) const {
  const std::string name = limit;
  std::string what = name == "cpu" ? "CPU time" : name;
  std::string unit = name == "cpu" ? " s" : name == "memory" ? " bytes" : "";
  std::string text = "It went over its limit of " + what + " (" + std::to_string(value) + unit;
  if (seen > 0) text += "; it had " + std::to_string(seen);
  return {name, value, seen, text + ") and was ended; raise the limit or let it use less."};
}

std::optional<LimitHit> LimitWatch::look() {
  const Millis began = cpu_ms();
  due_ = steady_ms() + soonest_ms;
  Look now = see();
  // Before the rest is asked for: where they multiply every question takes long.
  if (limits_.processes > 0 && now.processes > limits_.processes)
    return hit("processes", limits_.processes, now.processes);
  if (limits_.memory_bytes > 0) now.memory_bytes = shared_once(now);
  peak_memory_ = std::max(peak_memory_, now.memory_bytes);
  due_ = steady_ms() + next_look_ms(limits_, last_, now, cpu_ms() - began);
  last_ = now;
  if (limits_.memory_bytes > 0 && now.memory_bytes > limits_.memory_bytes)
    return hit("memory", limits_.memory_bytes, now.memory_bytes);
  if (limits_.memory_bytes > 0 && group_ && group_->out_of_memory()) return hit("memory", limits_.memory_bytes, 0);
  if (limits_.processes > 0 && group_ && group_->out_of_processes()) return hit("processes", limits_.processes, 0);
  if (limits_.cpu_s > 0 && now.cpu_s > static_cast<double>(limits_.cpu_s))
    return hit("cpu", limits_.cpu_s, static_cast<int64_t>(std::ceil(now.cpu_s)));
  return std::nullopt;
}

std::optional<LimitHit> LimitWatch::behind(int signal, double cpu_s) const {
  if (signal != 0 && limits_.memory_bytes > 0 && group_ && group_->out_of_memory())
    return hit("memory", limits_.memory_bytes, 0);
  if ((signal == SIGXCPU || signal == SIGKILL) && limits_.cpu_s > 0 && cpu_s >= static_cast<double>(limits_.cpu_s))
    return hit("cpu", limits_.cpu_s, static_cast<int64_t>(std::ceil(cpu_s)));
  return std::nullopt;
}

std::optional<RunUsage> LimitWatch::to_tell() {
  const bool moved = last_.cpu_s >= told_.cpu_s + told_cpu_step ||
                     std::abs(last_.memory_bytes - told_.memory_bytes) >= told_memory_step ||
                     last_.processes != told_.processes;
  if (!moved || last_.at_ms - told_.at_ms < (told_once_ ? tell_every_ms : tell_first_ms)) return std::nullopt;
  told_ = last_;
  told_once_ = true;
  RunUsage usage;
  usage.cpu_s = last_.cpu_s;
  usage.memory_bytes = last_.memory_bytes;
  usage.processes = static_cast<int>(last_.processes);
  return usage;
}

}  // namespace errand::process
