// Addresses and networks of those whose word counts: proxies in front of the server.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::net {

class Peers {
 public:
  Peers() = default;
  // "192.0.2.7", "2001:db8::1", or a network of them, "10.1.0.0/16". invalid_argument for anything else.
  static Result<Peers> parse(const std::vector<std::string>& entries);

  // `address` is canonical, as in Request::peer. False for what is no address.
  bool has(std::string_view address) const;

 private:
  using Bytes = std::array<unsigned char, 16>;  // An IPv4 address as ::ffff:a.b.c.d.
  struct Network {
    Bytes bytes = {};
    int bits = 128;
  };
  std::vector<Network> networks_;
};

// 127.0.0.0/8 and ::1.
bool is_loopback_peer(std::string_view address);

}  // namespace errand::net
