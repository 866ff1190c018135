#include "net/limiter.h"

#include <cstring>

#include <arpa/inet.h>

namespace errand::net {

std::string client_key(std::string_view peer) {
  std::string text(peer);
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127 ? "loopback" : text;
  if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
    if (IN6_IS_ADDR_LOOPBACK(&v6)) return "loopback";
    char canonical[INET6_ADDRSTRLEN];
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET, &v6.s6_addr[12], canonical, sizeof canonical);
      return client_key(canonical);
    }
    std::memset(&v6.s6_addr[8], 0, 8);
    ::inet_ntop(AF_INET6, &v6, canonical, sizeof canonical);
    return std::string(canonical) + "/64";
  }
  return text;
}

Millis FailureLimiter::fail(std::string_view peer) {
  const Time now = clock_.steady();
  std::string key = client_key(peer);
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    if (clients_.size() == limits_.clients) {
      by_key_.erase(clients_.front().key);
      clients_.pop_front();
    }
    clients_.push_back({std::move(key), {}});
    found = by_key_.emplace(clients_.back().key, std::prev(clients_.end())).first;
  }
  auto& failures = found->second->failures;
  std::erase_if(failures, [&](Time at) { return now - at >= limits_.window_ms; });
  if (failures.size() >= limits_.failures) return limits_.window_ms - (now - failures.front());
  failures.push_back(now);
  clients_.splice(clients_.end(), clients_, found->second);
  return 0;
}

}  // namespace errand::net
