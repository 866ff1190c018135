// Where a server listens.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace errand::serve {

struct Address {
  std::string host;  // A name, an IPv4 address, or an IPv6 address without brackets.
  int port = 0;      // 0: any free one.
};

// "127.0.0.1:4747", "[::1]:0", "localhost:80". Whether it can be listened on is not known here.
Result<Address> parse_address(std::string_view text);

// How clients call it: "http://[::1]:4747".
std::string url_of(const Address& address, bool tls);

}  // namespace errand::serve
