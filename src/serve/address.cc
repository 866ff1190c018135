#include "serve/address.h"

#include <charconv>

#include <fmt/format.h>

namespace errand::serve {

Result<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  Address address;
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    address.host = host;
    if (error == std::errc() && end == port.data() + port.size() && !address.host.empty() && address.port >= 0 &&
        address.port <= 65'535)
      return address;
  }
  return fail(Code::invalid_argument,
              fmt::format("\"{}\" is not an address to listen on. Write it like 127.0.0.1:4747.", text));
}

std::string url_of(const Address& address, bool tls) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", v6 ? "[" : "", address.host, v6 ? "]" : "",
                     address.port);
}

}  // namespace errand::serve
