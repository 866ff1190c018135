// How wide text is on a terminal. An own table rather than wcwidth: that one knows nothing beyond ASCII where the
// locale is "C", which is what cron, containers and many servers have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace errand::cli {

// 0 for controls and combining marks, 2 for East Asian wide and emoji, else 1.
int width_of(char32_t character);
// Of text without escapes and controls (see one_line).
int width_of(std::string_view text);

// The longest prefix of `text` that fits in `columns`, with "…" as its last character where something was cut.
std::string fit(std::string_view text, int columns);
// `text` cut or filled with spaces to exactly `columns`.
std::string pad(std::string_view text, int columns);
std::string pad_left(std::string_view text, int columns);

}  // namespace errand::cli
