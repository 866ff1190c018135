// From how a run ended, and the last that it printed, to the turn's outcome.
#pragma once

#include <string>

#include "driver/driver.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::run {

inline constexpr size_t result_tail_max = 16 * 1024;
inline constexpr size_t stderr_tail_max = 4 * 1024;

// The ends of what was printed, as UTF-8.
struct Tails {
  std::string output;  // Both streams as they came, at most result_tail_max bytes; from the start of a line where cut.
  std::string err;     // At most stderr_tail_max bytes.
};
Tails read_tails(process::Journal& journal);

Outcome make_outcome(const process::RunEnd& end, const Tails& tails, Millis timeout_ms, Surface surface);

}  // namespace errand::run
