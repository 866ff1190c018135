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
// Does `text` contain `part`? In time that is linear in both, whatever they are: string::find is not, and both may come
// from somebody who wants us to wait.
bool contains_text(std::string_view text, std::string_view part);
// Takes one character off the front of `text`, which must not be empty; U+FFFD (and one byte) where it is not UTF-8.
char32_t take_character(std::string_view& text);
void append_character(std::string& out, char32_t character);
// Invalid sequences replaced by U+FFFD.
std::string to_utf8(std::string_view bytes);
std::string_view first_line(std::string_view text);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// Compares without telling by its duration where the two differ.
bool equal_secret(std::string_view a, std::string_view b);

}  // namespace errand
