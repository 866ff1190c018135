#include "net/peers.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <arpa/inet.h>

#include "base/text.h"

namespace errand::net {
namespace {

struct Parsed {
  std::array<unsigned char, 16> bytes = {};
  bool v4 = false;
};

std::optional<Parsed> parse_one(std::string_view text) {
  const std::string address(text);
  Parsed parsed;
  if (::inet_pton(AF_INET6, address.c_str(), parsed.bytes.data()) == 1) return parsed;
  parsed.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  parsed.v4 = ::inet_pton(AF_INET, address.c_str(), parsed.bytes.data() + 12) == 1;
  return parsed.v4 ? std::optional(parsed) : std::nullopt;
}

bool same_start(const std::array<unsigned char, 16>& a, const std::array<unsigned char, 16>& b, int bits) {
  for (int i = 0; i < bits; ++i)
    if (((a[static_cast<size_t>(i / 8)] ^ b[static_cast<size_t>(i / 8)]) >> (7 - i % 8) & 1) != 0) return false;
  return true;
}

}  // namespace

Result<Peers> Peers::parse(const std::vector<std::string>& entries) {
  Peers peers;
  for (const std::string& entry : entries) {
    const std::string_view text = trim(entry);
    const size_t slash = text.find('/');
    const std::optional<Parsed> address = parse_one(text.substr(0, slash));
    int bits = address && address->v4 ? 32 : 128;
    const int most = bits;
    bool good = address.has_value();
    if (good && slash != std::string_view::npos) {
      const std::string_view length = text.substr(slash + 1);
      const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
      good = error == std::errc() && end == length.data() + length.size() && bits >= 1 && bits <= most;
    }
    if (!good)
      return fail(Code::invalid_argument,
                  "proxies: \"" + entry + "\" is no address and no network; write 192.0.2.7 or 10.1.0.0/16.");
    peers.networks_.push_back({address->bytes, address->v4 ? bits + 96 : bits});
  }
  return peers;
}

bool Peers::has(std::string_view address) const {
  const std::optional<Parsed> parsed = parse_one(address);
  return parsed && std::ranges::any_of(networks_, [&](const Network& network) {
           return same_start(network.bytes, parsed->bytes, network.bits);
         });
}

bool is_loopback_peer(std::string_view address) {
  static const Peers loopback = Peers::parse({"127.0.0.0/8", "::1"}).value_or(Peers());
  return loopback.has(address);
}

}  // namespace errand::net
