#include "driver/builtin/tools/replace.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::builtin {
namespace {

constexpr int64_t replacements_max = 100'000;
constexpr size_t result_max = 64 << 20;
constexpr int context_lines = 3;
constexpr size_t shown_lines_max = 40;
constexpr size_t shown_line_characters = 300;

// Where `part` is, without overlaps; stops behind the bound. Linear in the text for any part.
std::vector<size_t> places_of(std::string_view text, std::string_view part) {
  std::vector<size_t> places;
  // Knuth, Morris and Pratt: string::find takes the product of both lengths for a part that repeats itself.
  std::vector<size_t> fail_to(part.size() + 1, 0);
  for (size_t i = 1, k = 0; i < part.size(); ++i) {
    while (k > 0 && part[i] != part[k]) k = fail_to[k];
    if (part[i] == part[k]) ++k;
    fail_to[i + 1] = k;
  }
  for (size_t i = 0, k = 0; i < text.size(); ++i) {
    while (k > 0 && text[i] != part[k]) k = fail_to[k];
    if (text[i] == part[k]) ++k;
    if (k != part.size()) continue;
    places.push_back(i + 1 - k);
    if (std::ssize(places) > replacements_max) break;
    k = 0;
  }
  return places;
}

std::string without(std::string_view text, char c) {
  std::string out(text);
  std::erase(out, c);
  return out;
}

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return out;
}

std::string why_not_found(std::string_view text, std::string_view old) {
  if (text.contains("\r\n") && !old.contains('\r') && contains_text(without(text, '\r'), old))
    return "`old_string` matches except for its line ends: this file ends its lines with CR LF. Replace within single "
           "lines, or write the file anew.";
  const std::string bare = without_blanks(old);
  if (!bare.empty() && contains_text(without_blanks(text), bare))
    return "`old_string` matches except for blanks and tabs: copy it exactly as `read` shows it, without the line "
           "numbers.";
  return "`old_string` is not in the file: read it again, and copy the text exactly, without the line numbers.";
}

}  // namespace

Result<Replaced> replace_exactly(std::string_view text, std::string_view old, std::string_view by, bool all) {
  const auto wrong = [](std::string sentence) { return fail(Code::invalid_argument, std::move(sentence), "no_edit"); };
  if (old.empty()) return wrong("`old_string` is empty; to make a file use `write`.");
  if (old == by) return wrong("`old_string` and `new_string` are the same; nothing would change.");
  const std::vector<size_t> places = places_of(text, old);
  if (places.empty()) return wrong(why_not_found(text, old));
  if (std::ssize(places) > replacements_max)
    return wrong(fmt::format("`old_string` occurs more than {} times; use a command.", replacements_max));
  if (places.size() > 1 && !all)
    return wrong(
        fmt::format("`old_string` occurs {} times; give more of the text around the one that you mean, or "
                    "set `replace_all`.",
                    places.size()));
  if (text.size() + places.size() * by.size() > result_max)
    return wrong("The file would become too large; use a command.");
  Replaced out{.text = {}, .count = std::ssize(places), .first = places.front()};
  size_t from = 0;
  for (const size_t place : places) {
    out.text.append(text.substr(from, place - from)).append(by);
    from = place + old.size();
  }
  out.text.append(text.substr(from));
  return out;
}

std::string around(std::string_view text, size_t at, size_t length) {
  at = std::min(at, text.size());
  size_t begin = at;
  for (int i = 0; i <= context_lines; ++i) {
    const size_t end = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
    if (end == std::string_view::npos) {
      begin = 0;
      break;
    }
    begin = i < context_lines ? end : end + 1;
  }
  int64_t number = 1 + std::ranges::count(text.substr(0, begin), '\n');
  size_t end = std::min(at + length, text.size());
  for (int i = 0; i <= context_lines && end < text.size(); ++i) {
    const size_t next = text.find('\n', i == 0 ? end : end + 1);
    end = next == std::string_view::npos ? text.size() : next;
  }
  std::string out;
  size_t shown = 0;
  for (const std::string_view line : split(text.substr(begin, end - begin), '\n')) {
    if (++shown > shown_lines_max) return out + "       [...]\n";
    out += fmt::format("{:>6}\t{}\n", number++, first_characters(to_utf8(line), shown_line_characters));
  }
  return out;
}

}  // namespace errand::builtin
