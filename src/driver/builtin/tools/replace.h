// The exact replacement that `edit` makes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace errand::builtin {

struct Replaced {
  std::string text;
  int64_t count = 0;
  size_t first = 0;  // Where the first replacement begins in `text`.
};

// `old` must be in `text` exactly once, or, with `all`, at least once. The error says what to do: how often it is
// there, or what comes close.
Result<Replaced> replace_exactly(std::string_view text, std::string_view old, std::string_view by, bool all);

// The lines of `text` around what begins at `at` and is `length` long, with their numbers.
std::string around(std::string_view text, size_t at, size_t length);

}  // namespace errand::builtin
