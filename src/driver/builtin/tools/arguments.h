// What a model gives to a tool, read strictly: a wrong call is answered in words that it can act on (R8.8).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"

namespace errand::builtin {

inline constexpr size_t input_bytes_max = 8 << 20;    // Of one call's arguments.
inline constexpr size_t content_bytes_max = 4 << 20;  // Of one text in them: a file's content.

// `input` is a JSON object, or nothing for none. `read` takes the fields; what it leaves is refused by name.
Status read_arguments(std::string_view input, const std::function<void(Fields&)>& read);

// A path as a model writes it.
inline constexpr TextRule path_rule{.bytes_max = 4096, .one_line = true};

// Says that a field must be given, where it was not.
void require(Fields& fields, std::string_view name);

// The first line of a text for people: no controls, at most `characters` of it.
std::string short_line(std::string_view text, size_t characters = 120);

}  // namespace errand::builtin
