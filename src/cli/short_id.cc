#include "cli/short_id.h"

#include <algorithm>

namespace errand::cli {

namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr size_t time_characters = 10;  // 48 bits of milliseconds in characters of 5 bits.
constexpr size_t tail_characters = 26;

std::string_view without_kind(std::string_view id) {
  size_t line = id.find('_');
  return line == std::string_view::npos ? id : id.substr(line + 1);
}

size_t common(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

std::string short_id(std::string_view id) { return std::string(without_kind(id).substr(0, time_characters)); }

std::vector<std::string> short_ids(const std::vector<std::string>& ids) {
  std::vector<std::string_view> sorted(ids.begin(), ids.end());
  for (std::string_view& id : sorted) id = without_kind(id);
  std::ranges::sort(sorted);
  std::vector<std::string> out;
  for (const std::string& id : ids) {
    std::string_view tail = without_kind(id);
    auto at = std::ranges::lower_bound(sorted, tail);
    size_t length = time_characters;
    if (at != sorted.begin()) length = std::max(length, common(tail, *(at - 1)) + 1);
    if (at + 1 != sorted.end()) length = std::max(length, common(tail, *(at + 1)) + 1);
    out.emplace_back(tail.substr(0, length));
  }
  return out;
}

std::string with_kind(std::string_view text, std::string_view kind) {
  std::string out(text.starts_with(kind) ? "" : kind);
  out += text;
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::optional<IdSpan> span_of(std::string_view prefix, std::string_view kind) {
  if (!prefix.starts_with(kind)) return std::nullopt;
  std::string_view tail = prefix.substr(kind.size());
  if (tail.size() > tail_characters || tail.find_first_not_of(alphabet) != std::string_view::npos) return std::nullopt;
  int64_t first = 0, last = 0;
  for (size_t i = 0; i < time_characters; ++i) {
    auto digit = i < tail.size() ? static_cast<int64_t>(alphabet.find(tail[i])) : -1;
    first = first << 5 | std::max<int64_t>(digit, 0);
    last = last << 5 | (digit < 0 ? 31 : digit);
  }
  return IdSpan{{first}, {last}};
}

}  // namespace errand::cli
