// One simulated life (T5): random clients, misbehaving agents, a failing store, crashes at any step, time by hand.
// Everything follows from the seed. See docs/testing.md.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tests/simulation/server.h"

namespace errand::sim {

struct Options {
  uint64_t seed = 1;
  // Of the random part; the life then goes on without faults until everything is at rest. 0: by the seed.
  int steps = 0;
  Planted planted;
  size_t trace_lines = 0;
};

struct Report {
  std::optional<std::string> broken;  // The promise that was broken first.
  std::deque<std::string> trace;
  // What the life was made of, so that a suite can tell that it tried enough.
  int64_t steps = 0, crashes = 0, drains = 0, faults = 0, tasks = 0, commits = 0, events = 0;
};

Report simulate(const Options& options);

}  // namespace errand::sim
