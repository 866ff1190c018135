// What a file is, by its first bytes: libmagic where its database is on this machine, else whether it is text.
#pragma once

#include <string>
#include <string_view>

namespace errand::files {

inline constexpr size_t media_type_bytes = 8 * 1024;  // More of a file is not looked at.

// "text/plain", "image/png", ...; "application/octet-stream" where nobody knows. `head` is hostile. Any thread.
std::string media_type(std::string_view head);

}  // namespace errand::files
