// When a notification is tried: quiet hours, and how long after a failure. Pure.
#pragma once

#include <array>
#include <optional>

#include "base/time.h"
#include "notify/target.h"

namespace errand::notify {

// After the first, second, ... failure: a day and a bit in all. Then it is given up.
inline constexpr std::array<Millis, 7> retry_ms = {5'000,         5 * 60'000,     30 * 60'000,   2 * 3'600'000,
                                                   5 * 3'600'000, 10 * 3'600'000, 10 * 3'600'000};
inline constexpr int tries_max = static_cast<int>(retry_ms.size()) + 1;
// However long a receiver asks for.
inline constexpr Millis retry_after_max_ms = 3'600'000;

// How long after the failure of try number `tries` (from 1) the next comes; nothing: that was the last one. `chance`
// spreads those of one outage over a tenth of the time. `asked_ms`: what the receiver said (Retry-After); 0: nothing.
std::optional<Millis> next_try(int tries, uint64_t chance, Millis asked_ms);

// When the quiet hours that `now` is in end; nothing: it is in none. `utc_offset_ms`: of the server's time of the day.
std::optional<Time> quiet_until(const std::optional<Quiet>& quiet, Time now, Millis utc_offset_ms);

}  // namespace errand::notify
