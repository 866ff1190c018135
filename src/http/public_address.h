// Is this an address of the open internet? This machine's own, private networks, link-local (where clouds keep their
// metadata), multicast, documentation and what carries such an IPv4 address inside are not. Pure.
#pragma once

#include <string_view>

struct sockaddr;

namespace errand::http {

bool is_public_address(const sockaddr* address);
// The same of a text such as "10.0.0.1" or "[::1]"; false also where it is no address.
bool is_public_address(std::string_view text);

}  // namespace errand::http
