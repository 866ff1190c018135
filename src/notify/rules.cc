#include "notify/rules.h"

#include <algorithm>

namespace errand::notify {

std::optional<Millis> next_try(int tries, uint64_t chance, Millis asked_ms) {
  if (tries >= tries_max || tries < 1) return std::nullopt;
  const Millis wait = retry_ms[static_cast<size_t>(tries - 1)];
  const Millis spread = wait + static_cast<Millis>(chance % static_cast<uint64_t>(wait / 10 + 1));
  return std::max(spread, std::clamp<Millis>(asked_ms, 0, retry_after_max_ms));
}

std::optional<Time> quiet_until(const std::optional<Quiet>& quiet, Time now, Millis utc_offset_ms) {
  if (!quiet) return std::nullopt;
  constexpr Millis minute = 60'000, day = 24 * 60 * minute;
  const Millis today = ((now.ms + utc_offset_ms) % day + day) % day;  // Since midnight.
  const Millis from = quiet->from * minute, to = quiet->to * minute;
  const bool over_midnight = to <= from;
  const bool inside = over_midnight ? today >= from || today < to : today >= from && today < to;
  if (!inside) return std::nullopt;
  return now + (today < to ? to - today : day - today + to);
}

}  // namespace errand::notify
