// How often a client may send wrong credentials. Only failures count, and only a further failure is refused: the right
// token always passes, so nobody can lock the owner out.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace errand::net {

// What counts as one client: all of loopback (its addresses are free for the taking), an IPv6 network of 64 bits, else
// the address.
std::string client_key(std::string_view peer);

class FailureLimiter {
 public:
  struct Limits {
    size_t failures = 10;
    Millis window_ms = 60'000;
    size_t clients = 4096;  // Remembered at once; past it the one that failed longest ago is forgotten.
  };
  FailureLimiter(Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  // Counts a failure of that client. 0: it is within the limit; else how long until a failure is within it again.
  Millis fail(std::string_view peer);
  size_t clients() const { return by_key_.size(); }

 private:
  struct Client {
    std::string key;
    std::vector<Time> failures;  // The newest `failures` within the limit, oldest first.
  };

  Clock& clock_;
  const Limits limits_;
  std::list<Client> clients_;  // Whose last counted failure is oldest comes first.
  std::unordered_map<std::string_view, std::list<Client>::iterator> by_key_;
};

}  // namespace errand::net
