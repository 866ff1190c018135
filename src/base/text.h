// Small text functions that respect UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace errand {

// The number of bytes of the longest prefix (suffix) of `text` with at most `bytes` bytes that does not split a
// character.
size_t utf8_prefix(std::string_view text, size_t bytes);
size_t utf8_suffix(std::string_view text, size_t bytes);
// The first `count` characters (code points) of `text`.
std::string_view first_characters(std::string_view text, size_t count);
size_t count_characters(std::string_view text);
bool is_utf8(std::string_view text);
// Invalid sequences replaced by U+FFFD.
std::string to_utf8(std::string_view bytes);
std::string_view first_line(std::string_view text);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// Compares without telling by its duration where the two differ.
bool equal_secret(std::string_view a, std::string_view b);

}  // namespace errand
