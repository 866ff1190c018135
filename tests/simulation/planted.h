// Bugs that are put in on purpose: the simulator must find each of them. The counts go on over crashes.
#pragma once

#include <cstdint>

namespace errand::sim {

struct Planted {
  // Which one goes wrong, counted from 1; 0: none.
  int64_t lose_commit = 0;  // A commit about a task is acknowledged and not stored.
  int64_t skip_frame = 0;   // An event is not shown on the feeds.
  int64_t keep_slot = 0;    // A slot is not given back.
  bool same_boot = false;   // A power cut is not told from a crash.
  // So far.
  int64_t commits = 0, frames = 0, slots = 0;

  bool loses_this_commit() { return ++commits == lose_commit; }
  bool skips_this_frame() { return ++frames == skip_frame; }
  bool keeps_this_slot() { return ++slots == keep_slot; }
};

}  // namespace errand::sim
