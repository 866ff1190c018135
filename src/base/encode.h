// Bytes as text: base64 (RFC 4648) and hexadecimal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace errand {

std::string to_base64(std::string_view bytes);
// In the alphabet for URLs and file names, without padding.
std::string to_base64url(std::string_view bytes);
// Reads both alphabets; padding and line breaks are passed over. Nothing where another character is in it.
std::optional<std::string> from_base64(std::string_view text);

// In lower case.
std::string to_hex(std::string_view bytes);
// Nothing where it is not pairs of digits, of either case.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace errand
