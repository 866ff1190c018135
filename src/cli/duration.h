// Durations as people type them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace errand::cli {

// "90", "90s", "1.5h", "5m", "2h", "1h30m", "250ms", "7d". Without a unit it is seconds. Not negative, at most ten
// years.
Result<Millis> parse_duration(std::string_view text);

// A short form for tables: "4s", "12m", "3h", "5d".
std::string short_duration(Millis span);
// A clock for progress lines: "0:07", "12:03", "1:02:03".
std::string clock_duration(Millis span);

}  // namespace errand::cli
