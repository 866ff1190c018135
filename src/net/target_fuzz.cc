// Any bytes as a request target: refused, or a path and query with the promises of http.h.
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "net/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<net::Target> target = net::parse_target(bytes);
  if (!target) return 0;
  const std::string& path = target->path;
  const bool sound = path.starts_with('/') && path.find("//") == std::string::npos &&
                     path.find('\0') == std::string::npos && !(path + "/").contains("/../") &&
                     !(path + "/").contains("/./") && (path == "/" || !path.ends_with('/')) && is_utf8(path);
  if (!sound) std::abort();
  // Encoded again and read again it is the same.
  std::string again;
  for (const std::string_view segment : split(std::string_view(path).substr(1), '/')) {
    again += '/';
    net::append_percent_encoded(again, segment);
  }
  for (const auto& [name, value] : target->query) {
    if (!is_utf8(name) || !is_utf8(value)) std::abort();
    again += again.contains('?') ? '&' : '?';
    net::append_percent_encoded(again, name);
    again += '=';
    net::append_percent_encoded(again, value);
  }
  const Result<net::Target> read = net::parse_target(again);
  if (!read || read->path != path || read->query != target->query) std::abort();
  return 0;
}
