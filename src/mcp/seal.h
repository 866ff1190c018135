// Seals on what we hand out and get back: a client can keep it, and cannot make or change it.
#pragma once

#include <string>
#include <string_view>

namespace errand::mcp {

// 144 bits of HMAC-SHA256 as base64url. `purpose` keeps one use's seals from being another's.
std::string seal(std::string_view secret, std::string_view purpose, std::string_view text);

// A short digest of a text, for sealing what is long.
std::string digest(std::string_view text);

}  // namespace errand::mcp
