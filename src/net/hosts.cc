#include "net/hosts.h"

#include "net/http.h"

namespace errand::net {
namespace {

bool has_port(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon != std::string_view::npos && name.find(']', colon) == std::string_view::npos;
}

}  // namespace

Hosts::Hosts(const std::vector<std::string>& configured) : names_{"localhost", "127.0.0.1", "[::1]"} {
  for (const std::string& name : configured) {
    allowed_.insert(lower_case(name));
    if (!has_port(name)) names_.push_back(lower_case(name));
  }
}

void Hosts::add_port(int port) {
  for (const std::string& name : names_) {
    allowed_.insert(name + ":" + std::to_string(port));
    if (port == 80 || port == 443) allowed_.insert(name);  // Browsers leave the usual port out.
  }
}

bool Hosts::allowed(std::string_view host) const { return allowed_.contains(lower_case(host)); }

bool Hosts::same_origin(std::string_view origin, std::string_view host, bool secure) {
  const std::string_view scheme = secure ? "https://" : "http://";
  return origin.starts_with(scheme) && lower_case(origin.substr(scheme.size())) == lower_case(host);
}

}  // namespace errand::net
