// The request target: path and query, decoded once, here. Strict: what could be read in two ways (encoded slashes, dot
// segments, empty segments, control characters, broken escapes, invalid UTF-8) is refused, never repaired, so that no
// later code can read it differently.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace errand::net {

struct Target {
  std::string path;  // As Request::path.
  std::vector<std::pair<std::string, std::string>> query;
  std::string authority;  // Of an absolute-form target ("http://HOST/..."), in lower case; else empty.

  bool operator==(const Target&) const = default;
};

// Takes origin-form ("/a?b=c") and absolute-form ("http://host:port/a?b=c"). Anything else, and "*", is refused.
Result<Target> parse_target(std::string_view target);

}  // namespace errand::net
