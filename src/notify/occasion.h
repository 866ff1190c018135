// Occasions: what notifications are sent for. One word on every surface: `on` in requests, --on in the command line,
// "task.asked" as the type of a webhook.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace errand::notify {

enum class Occasion : uint8_t {
  asked,  // A question or a permission request that nobody has answered.
  failed,
  completed,
  cancelled,
  test,  // Somebody wants to know whether it arrives. Not to be chosen.
};
inline constexpr int occasion_count = 4;  // That can be chosen.

std::string_view name(Occasion occasion);
std::optional<Occasion> parse_occasion(std::string_view text);  // One that can be chosen.

class Occasions {
 public:
  Occasions& add(Occasion occasion) {
    bits_ |= bit(occasion);
    return *this;
  }
  bool has(Occasion occasion) const { return (bits_ & bit(occasion)) != 0; }
  bool empty() const { return bits_ == 0; }
  std::vector<Occasion> list() const;
  bool operator==(const Occasions&) const = default;

 private:
  static uint8_t bit(Occasion occasion) { return static_cast<uint8_t>(1u << static_cast<int>(occasion)); }
  uint8_t bits_ = 0;
};

// What needs a person: the default.
inline Occasions needs_a_person() { return Occasions().add(Occasion::asked).add(Occasion::failed); }

// The occasion that an event is; nothing for most events. `end` comes once for each time that a task comes to rest,
// whatever else is told of it before and after.
std::optional<Occasion> occasion_of(const Event& event);

}  // namespace errand::notify
