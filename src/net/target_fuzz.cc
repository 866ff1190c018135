// Any bytes as a request target: refused, or a path and query with the promises of http.h.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "net/target.h"

namespace {

void append_percent_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    }
  }
}

}  // namespace

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
    append_percent_encoded(again, segment);
  }
  for (const auto& [name, value] : target->query) {
    if (!is_utf8(name) || !is_utf8(value)) std::abort();
    again += again.contains('?') ? '&' : '?';
    append_percent_encoded(again, name);
    again += '=';
    append_percent_encoded(again, value);
  }
  const Result<net::Target> read = net::parse_target(again);
  if (!read || read->path != path || read->query != target->query) std::abort();
  return 0;
}
