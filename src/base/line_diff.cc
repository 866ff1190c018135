#include "base/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace errand {
namespace {

constexpr size_t context_lines = 3;
// Of the table of the lines that two texts share: a few hundred lines each, in about a millisecond.
constexpr size_t cells_max = 250'000;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? Lines() : split(text, '\n');
}

struct Change {
  char sign = ' ';
  std::string_view line;
};

// The middle, where both ends were equal: the longest row of lines that both have stays.
void compare(const Lines& before, const Lines& after, size_t head, size_t tail, std::vector<Change>& out) {
  const size_t gone = before.size() - head - tail, come = after.size() - head - tail;
  if (gone != 0 && come != 0 && gone <= cells_max / come) {
    std::vector<uint32_t> longest((gone + 1) * (come + 1));
    const auto at = [&](size_t i, size_t j) -> uint32_t& { return longest[i * (come + 1) + j]; };
    for (size_t i = gone; i-- > 0;)
      for (size_t j = come; j-- > 0;)
        at(i, j) = before[head + i] == after[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    size_t i = 0, j = 0;
    while (i < gone && j < come) {
      if (before[head + i] == after[head + j]) {
        out.push_back({' ', before[head + i]});
        ++i, ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        out.push_back({'-', before[head + i++]});
      } else {
        out.push_back({'+', after[head + j++]});
      }
    }
    for (; i < gone; ++i) out.push_back({'-', before[head + i]});
    for (; j < come; ++j) out.push_back({'+', after[head + j]});
    return;
  }
  for (size_t i = 0; i < gone; ++i) out.push_back({'-', before[head + i]});
  for (size_t j = 0; j < come; ++j) out.push_back({'+', after[head + j]});
}

}  // namespace

std::string line_diff(std::string_view path, std::string_view before_text, std::string_view after_text,
                      size_t bytes_max) {
  const Lines before = lines_of(before_text), after = lines_of(after_text);
  size_t head = 0, tail = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  if (head + tail == before.size() && head + tail == after.size()) return {};

  std::vector<Change> changes;
  const size_t from = head - std::min(head, context_lines);
  for (size_t i = from; i < head; ++i) changes.push_back({' ', before[i]});
  compare(before, after, head, tail, changes);
  for (size_t i = 0; i < std::min(tail, context_lines); ++i) changes.push_back({' ', before[before.size() - tail + i]});

  std::string out = fmt::format("--- {0}\n+++ {0}\n", path);
  size_t old_line = from + 1, new_line = from + 1;
  for (size_t begin = 0; begin < changes.size();) {
    // A hunk ends where more lines stay than its end and the next one's beginning show.
    size_t end = begin, last = begin;
    for (size_t i = begin; i < changes.size() && i - last <= 2 * context_lines; ++i)
      if (changes[i].sign != ' ') last = i;
    end = std::min(last + context_lines + 1, changes.size());
    size_t old_count = 0, new_count = 0;
    for (size_t i = begin; i < end; ++i) {
      old_count += changes[i].sign != '+';
      new_count += changes[i].sign != '-';
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", old_line, old_count, new_line, new_count);
    for (size_t i = begin; i < end && out.size() <= bytes_max; ++i)
      out.append(1, changes[i].sign).append(changes[i].line).append("\n");
    old_line += old_count;
    new_line += new_count;
    // To the next change, with what stands before it.
    size_t next = end;
    while (next < changes.size() && changes[next].sign == ' ') ++next;
    if (next == changes.size() || out.size() > bytes_max) break;
    begin = std::max(end, next - std::min(next, context_lines));
    old_line += begin - end;
    new_line += begin - end;
  }
  if (out.size() <= bytes_max) return out;
  constexpr std::string_view more = "\n… the rest is not shown\n";
  out.resize(utf8_prefix(out, bytes_max - std::min(bytes_max, more.size())));
  return out.append(more);
}

}  // namespace errand
