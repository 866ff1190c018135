// What may stand in a request's head, and what of it is secret.
#pragma once

#include <string>
#include <string_view>

namespace errand::http {

// A method or a header's name (RFC 9110, `token`).
bool is_token(std::string_view text);
// No line break, no zero byte: it cannot become a header of its own.
bool is_plain(std::string_view text);
std::string lower(std::string_view text);  // ASCII.
// A header that another host must not see.
bool is_credential(std::string_view name);

}  // namespace errand::http
