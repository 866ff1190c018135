#include "http/client.h"
#include "http/field.h"

namespace errand::http {
std::string_view Head::header(std::string_view name) const {
  const std::string wanted = lower(name);
  for (const auto& [key, value] : headers)
    if (key == wanted) return value;
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
