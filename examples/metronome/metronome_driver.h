// An example of a driver: an agent that ticks. docs/extending.md walks through it line by line; the driver contract
// suite runs against it (tests/contract/driver_example_test.cc). It is not part of the errand binary.
//
// A message "tick 8 60" makes it say eight ticks, 60 ms apart; "tick on 60" makes it tick until it is stopped. It lives
// in the server's process: when the server dies the ticking stops, and the next server takes it up after the last tick
// that was stored.
#pragma once

#include <memory>

#include "base/timers.h"
#include "driver/driver.h"

namespace errand::example {

// `timers` outlives the driver and its turns.
std::unique_ptr<Driver> make_metronome_driver(Timers& timers);

}  // namespace errand::example
