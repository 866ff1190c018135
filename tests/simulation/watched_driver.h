// A driver that watches another one: which turns are open, and whether the engine keeps to driver.h.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/id.h"
#include "driver/driver.h"
#include "tests/simulation/verdict.h"

namespace errand::sim {

// Outlives every server: what has ever been opened.
class TurnWatch {
 public:
  explicit TurnWatch(Verdict& verdict) : verdict_(verdict) {}

  void opened(const TaskId& task, int run, bool reattach);
  void closed(const TaskId& task, int run);
  // The server died, and every turn of it.
  void all_gone() { open_.clear(); }

  // The folders of runs, as keepers make them and do not sync. A power cut takes some back, and begins another boot
  // (decision 26). They are asked for only of runs of which nothing is stored but their start.
  void power_cut(SeededRandom& random, bool same_boot);
  std::string boot() const { return "boot=" + std::to_string(boot_); }
  bool has_folder(const TaskId& task, int run) const { return folders_.contains({task, run}); }

  // Turns that have not ended: their runs by task.
  const std::map<TaskId, int>& open() const { return open_; }

 private:
  Verdict& verdict_;
  std::map<TaskId, int> open_;
  std::set<std::pair<TaskId, int>> ever_;  // Begun.
  std::set<std::pair<TaskId, int>> folders_;
  int boot_ = 1;
};

// `inner` and `watch` outlive it.
std::unique_ptr<Driver> watch_driver(Driver& inner, TurnWatch& watch);

}  // namespace errand::sim
