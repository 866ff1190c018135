// Times and clocks. Wall time is for people and records; steady time is for deadlines, so that a clock that is set
// neither fires nor delays one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace errand {

using Millis = int64_t;  // A duration, in milliseconds.

// A point in time, in milliseconds: since 1970 UTC (wall) or since an arbitrary start (steady). 0 is "never".
struct Time {
  int64_t ms = 0;

  explicit operator bool() const { return ms != 0; }
  auto operator<=>(const Time&) const = default;
  friend Time operator+(Time time, Millis span) { return {time.ms + span}; }
  friend Time operator-(Time time, Millis span) { return {time.ms - span}; }
  friend Millis operator-(Time a, Time b) { return a.ms - b.ms; }
};

// "2026-11-15T09:52:03.120Z"; RFC 3339, UTC, milliseconds, always 24 characters.
std::string format_time(Time wall);
void append_time(std::string& out, Time wall);
// Takes RFC 3339 with any fraction and offset.
Result<Time> parse_time(std::string_view text);
// "850 ms", "2.4 s", "3 m 20 s", "2 h 5 m": for notices and the terminal.
std::string format_duration(Millis span);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time wall() = 0;
  virtual Time steady() = 0;
};

// The machine's clocks.
class SystemClock final : public Clock {
 public:
  Time wall() override;
  Time steady() override;
};

// A clock that tests and the simulator turn by hand.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start = {1'763'200'000'000}) : wall_(start), steady_{1'000} {}
  Time wall() override { return wall_; }
  Time steady() override { return steady_; }
  void advance(Millis span) {
    wall_ = wall_ + span;
    steady_ = steady_ + span;
  }
  // As when somebody sets the machine's clock.
  void jump_wall(Millis span) { wall_ = wall_ + span; }

 private:
  Time wall_;
  Time steady_;
};

}  // namespace errand
