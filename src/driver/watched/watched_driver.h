// A driver in front of a driver: what it does for turns is in watched_turn.h. All else is passed on; a task with a work
// tree of its own is shown to the real driver as one that was launched there.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "driver/driver.h"
#include "driver/watched/watched_turn.h"

namespace errand::watched {

struct WatchOptions {
  std::function<Watch()> watch;  // Of tasks that work in the folder itself; asked for each turn.
  std::string data_dir = {};  // Set: it is the one that finds tasks which are gone, and whose changes are still kept.
};

// `inner` outlives it.
std::unique_ptr<Driver> make_watched_driver(Driver& inner, WatchOptions options, WatchParts parts);

}  // namespace errand::watched
