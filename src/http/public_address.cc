#include "http/public_address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace errand::http {
namespace {

struct Net4 {
  uint32_t address;
  int bits;
};
constexpr uint32_t ip(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a << 24 | b << 16 | c << 8 | d; }
// IANA's special-purpose registry.
constexpr std::array closed4 = {
    Net4{ip(0, 0, 0, 0), 8},      Net4{ip(10, 0, 0, 0), 8},     Net4{ip(100, 64, 0, 0), 10},
    Net4{ip(127, 0, 0, 0), 8},    Net4{ip(169, 254, 0, 0), 16}, Net4{ip(172, 16, 0, 0), 12},
    Net4{ip(192, 0, 0, 0), 24},   Net4{ip(192, 0, 2, 0), 24},   Net4{ip(192, 88, 99, 0), 24},
    Net4{ip(192, 168, 0, 0), 16}, Net4{ip(198, 18, 0, 0), 15},  Net4{ip(198, 51, 100, 0), 24},
    Net4{ip(203, 0, 113, 0), 24}, Net4{ip(224, 0, 0, 0), 4},    Net4{ip(240, 0, 0, 0), 4}};

bool is_public4(uint32_t address) {
  return std::ranges::none_of(
      closed4, [&](const Net4& net) { return address >> (32 - net.bits) == net.address >> (32 - net.bits); });
}

bool is_public6(const unsigned char* bytes) {
  // Of 2000::/3 what is given out; everything else is somebody's own, or carries another address inside.
  if ((bytes[0] & 0xe0) != 0x20) return false;
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return false;                                          // 6to4.
  if (bytes[0] == 0x20 && bytes[1] == 0x01 && (bytes[2] & 0xfe) == 0) return false;                // Teredo and others.
  if (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0d && bytes[3] == 0xb8) return false;  // Documentation.
  return !(bytes[0] == 0x3f && bytes[1] == 0xff);
}

}  // namespace

bool is_public_address(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return is_public4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  return is_public6(v6.sin6_addr.s6_addr);
}

bool is_public_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string plain(text);
  in_addr v4{};
  if (::inet_pton(AF_INET, plain.c_str(), &v4) == 1) return is_public4(ntohl(v4.s_addr));
  in6_addr v6{};
  return ::inet_pton(AF_INET6, plain.c_str(), &v6) == 1 && is_public6(v6.s6_addr);
}

}  // namespace errand::http
