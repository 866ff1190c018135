// Durations and sizes as people type them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace errand::cli {

// "90", "90s", "1.5h", "5m", "2h", "1h30m", "250ms", "7d". Without a unit it is seconds. Not negative, at most ten
// years.
Result<Millis> parse_duration(std::string_view text);

// "512", "512K", "1.5G", "64MiB", "2 GB": bytes; units are powers of 1024, however they are spelled. Not negative, at
// most 2^50.
Result<int64_t> parse_size(std::string_view text);
// "512 MiB", "1.5 GiB", "900 bytes".
std::string size_words(int64_t bytes);

// A short form for tables: "4s", "12m", "3h", "5d".
std::string short_duration(Millis span);
// A time of day for people, where they are: "14:05:09", with its date where that is not today's.
std::string local_time(Time at, Time now);
// A clock for progress lines: "0:07", "12:03", "1:02:03".
std::string clock_duration(Millis span);

}  // namespace errand::cli
