#include "net/target.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "net/http.h"

namespace errand::net {
namespace {

constexpr size_t params_max = 100;

std::unexpected<Error> refuse(std::string message) {
  return fail(Code::invalid_argument, std::move(message), "bad_target");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Replaces %XX (and '+' where `plus_is_space`); empty where an escape is broken.
bool decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return true;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Status decode_segment(std::string_view raw, std::string& path) {
  std::string segment;
  if (!decode(raw, false, segment)) return refuse("The path has a '%' that two hexadecimal digits do not follow.");
  if (segment.empty()) return refuse("The path has an empty segment ('//').");
  if (segment == "." || segment == "..") return refuse("The path has a dot segment.");
  if (segment.find_first_of("/\\") != std::string::npos)
    return refuse("A path segment contains a slash or a backslash.");
  if (std::ranges::any_of(segment, is_control)) return refuse("The path contains a control character.");
  if (!is_utf8(segment)) return refuse("The path is not valid UTF-8.");
  path += '/';
  path += segment;
  return {};
}

Result<std::string> decode_path(std::string_view raw) {
  if (raw.empty() || raw.front() != '/') return refuse("The path does not begin with '/'.");
  raw.remove_prefix(1);
  std::string path;
  path.reserve(raw.size() + 1);
  while (!raw.empty()) {  // A slash at the end leaves nothing to decode: it is dropped.
    const size_t slash = std::min(raw.find('/'), raw.size());
    if (Status done = decode_segment(raw.substr(0, slash), path); !done) return std::unexpected(done.error());
    raw.remove_prefix(std::min(slash + 1, raw.size()));
  }
  if (path.empty()) path = "/";
  return path;
}

Status decode_query(std::string_view raw, std::vector<std::pair<std::string, std::string>>& query) {
  while (!raw.empty()) {
    const size_t end = std::min(raw.find('&'), raw.size());
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (pair.empty()) continue;
    if (query.size() == params_max) return refuse("The query has more than 100 parameters.");
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    if (!decode(pair.substr(0, equals), true, name) ||
        !decode(pair.substr(std::min(equals + 1, pair.size())), true, value))
      return refuse("The query has a '%' that two hexadecimal digits do not follow.");
    if (name.find('\0') != std::string::npos || value.find('\0') != std::string::npos)
      return refuse("The query contains a NUL character.");
    if (!is_utf8(name) || !is_utf8(value)) return refuse("The query is not valid UTF-8.");
    query.emplace_back(std::move(name), std::move(value));
  }
  return {};
}

// Host and port characters only: no user info, which is a credential in a URL.
bool is_authority(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' || c == '[' ||
           c == ']' || c == '_';
  });
}

}  // namespace

Result<Target> parse_target(std::string_view raw) {
  for (const char c : raw)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '#')
      return refuse("The request target has a character that must be percent-encoded.");
  Target target;
  if (!raw.empty() && raw.front() != '/') {
    const size_t colon = raw.find("://");
    const std::string scheme = lower_case(raw.substr(0, std::min(colon, raw.size())));
    if (colon == std::string_view::npos || (scheme != "http" && scheme != "https"))
      return refuse("The request target is neither a path nor an http URL.");
    raw.remove_prefix(colon + 3);
    const size_t end = std::min(raw.find_first_of("/?"), raw.size());
    target.authority = lower_case(raw.substr(0, end));
    if (!is_authority(target.authority)) return refuse("The request target's host is malformed.");
    raw.remove_prefix(end);
  }
  const size_t question = std::min(raw.find('?'), raw.size());
  std::string_view path = raw.substr(0, question);
  if (path.empty() && !target.authority.empty()) path = "/";
  Result<std::string> decoded = decode_path(path);
  if (!decoded) return std::unexpected(decoded.error());
  target.path = std::move(*decoded);
  if (Status done = decode_query(raw.substr(std::min(question + 1, raw.size())), target.query); !done)
    return std::unexpected(done.error());
  return target;
}

}  // namespace errand::net
