// The clocks, for code that has no Clock: what the supervisor times is the kernel's doing.
#pragma once

#include <cstdint>
#include <time.h>

namespace errand::process {

inline int64_t clock_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}
inline int64_t wall_ms() { return clock_ms(CLOCK_REALTIME); }
inline int64_t steady_ms() { return clock_ms(CLOCK_MONOTONIC); }

}  // namespace errand::process
