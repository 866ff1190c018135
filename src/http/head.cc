#include <algorithm>

#include "http/client.h"

namespace errand::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view Head::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (same_name(key, name)) return value;
  return {};
}

Options options_from_environment(const std::map<std::string, std::string>& environment) {
  const auto get = [&](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? std::string() : it->second;
  };
  Options options;
  options.ca_file = get("CURL_CA_BUNDLE");
  if (options.ca_file.empty()) options.ca_file = get("SSL_CERT_FILE");
  options.ca_dir = get("SSL_CERT_DIR");
  return options;
}

}  // namespace errand::http
