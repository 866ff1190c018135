#include "http/field.h"

#include <algorithm>
#include <array>

namespace errand::http {

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool is_plain(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_credential(std::string_view name) {
  static constexpr std::array<std::string_view, 5> names = {"authorization", "proxy-authorization", "cookie",
                                                            "x-api-key", "api-key"};
  return std::ranges::find(names, lower(name)) != names.end();
}

}  // namespace errand::http
