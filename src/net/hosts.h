// The names under which this server is reached. A browser that was tricked into resolving another name to our address
// (DNS rebinding) says that other name in Host and Origin.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace errand::net {

class Hosts {
 public:
  // `configured`: further names, "errand.example.org" (with our port or without) or "box:8443" (exactly so).
  explicit Hosts(const std::vector<std::string>& configured);

  // A port we listen on: localhost, 127.0.0.1, [::1] and the configured names with it are ours.
  void add_port(int port);
  // Compares in lower case.
  bool allowed(std::string_view host) const;
  // True for exactly "http://HOST" ("https://HOST" where secure), HOST being the request's own.
  static bool same_origin(std::string_view origin, std::string_view host, bool secure);

 private:
  std::vector<std::string> names_;
  std::set<std::string, std::less<>> allowed_;
};

}  // namespace errand::net
