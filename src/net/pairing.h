// The codes by which a phone is paired: eight letters that a person scans or types, good once, for two minutes. Whoever
// guesses ends them: a code dies with the fifth wrong try, whoever made it. In memory only. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "net/principal.h"

namespace errand::net {

inline constexpr Millis pairing_ms = 120'000;
inline constexpr int pairing_tries_max = 5;
inline constexpr size_t pairings_max = 8;  // Remembered; a further one takes the place of the oldest.
inline constexpr size_t pairing_characters = 8;

class Pairing {
 public:
  Pairing(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  struct Opened {
    std::string id;    // "pair_..."
    std::string code;  // "ABCDEFGH": of 32 letters and digits that nobody confuses.
  };
  // What pairs by it may do `scopes`.
  Opened open(Scopes scopes);

  struct Taken {
    std::string id;
    Scopes scopes;
  };
  // Case, blanks and dashes do not matter. Nothing where no open code is this one.
  std::optional<Taken> take(std::string_view code);
  // The code that was taken has paired this device.
  void paired(const std::string& id, const std::string& device);

  enum class State : uint8_t {
    open,
    used,  // `device` says by whom, once that is stored.
    expired,
    guessed,  // It had too many wrong tries.
  };
  struct View {
    State state = State::open;
    std::string device;
    Millis left_ms = 0;
  };
  // Nothing where there is none, or it was long ago.
  std::optional<View> look(std::string_view id) const;

 private:
  struct Entry {
    std::string id, code;
    Scopes scopes;
    Time ends;  // Steady.
    int tries = 0;
    bool taken = false;
    std::string device;
  };
  State state_of(const Entry& entry) const;

  Clock& clock_;
  Random& random_;
  std::deque<Entry> entries_;  // Oldest first.
};

std::string_view name(Pairing::State state);
// "ABCD-EFGH", as people read it.
std::string for_people(std::string_view code);

}  // namespace errand::net
