#include "fork/cut.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "fork/tokens.h"

namespace errand::fork {
namespace {

// The last `count` characters.
std::string_view last_characters(std::string_view text, size_t count) {
  size_t at = text.size();
  while (at > 0 && count > 0) {
    --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    --count;
  }
  return text.substr(at);
}

// What the sentence about a cut takes, with the frame of a part around it; and a part that is worth its sentence.
constexpr int64_t note_tokens = 80;
constexpr int64_t part_min = 2 * note_tokens;

// Beginning and end of `text`, with at most `tokens`.
std::string ends_of(std::string_view text, int64_t tokens) {
  const int64_t room = std::max<int64_t>(tokens - note_tokens, 0);
  const std::string_view head = text.substr(0, tokens_prefix(text, room * 2 / 3));
  const std::string_view rest = text.substr(head.size());
  const std::string_view tail = rest.substr(rest.size() - tokens_suffix(rest, room / 3));
  const auto left_out = static_cast<int64_t>(count_characters(text) - count_characters(head) - count_characters(tail));
  return fmt::format("{}\n[... {} of {} characters were left out here when this conversation was forked ...]\n{}", head,
                     with_commas(left_out), with_commas(static_cast<int64_t>(count_characters(text))), tail);
}

void cut_part(Part& part, int64_t tokens) {
  switch (part.type) {
    case PartType::tool_call: {
      // Half, because what is quoted in JSON is longer.
      const int64_t room = tokens - estimate_tokens(part.name);
      std::string input;
      JsonOut(input).object().field("cut", ends_of(part.input, (room + note_tokens) / 2)).end();
      if (estimate_tokens(input) + note_tokens / 2 > room) {
        input.clear();
        JsonOut(input).object().field("cut_bytes", part.input.size()).end();
      }
      part.input = std::move(input);
      return;
    }
    case PartType::file:
      part =
          Part{.type = PartType::text,
               .text = fmt::format("[The file \"{}\" ({}, {} bytes) was left out when this conversation was forked.]",
                                   first_characters(part.name, 200), first_characters(part.media_type, 100),
                                   with_commas(part.size > 0 ? part.size : static_cast<int64_t>(part.url.size())))};
      return;
    case PartType::tool_result:
      if (part.size == 0) part.size = static_cast<int64_t>(part.text.size());
      part.truncated = true;
      break;
    default:
      break;
  }
  part.text = ends_of(part.text, tokens);
  part.opaque.clear();  // A signature of the whole is none of a part.
}

}  // namespace

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t sign = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

bool cut_result(Part& result, int64_t characters, bool both_ends) {
  const auto limit = static_cast<size_t>(characters);
  // No text has more characters than bytes.
  if (result.text.size() <= limit || first_characters(result.text, limit).size() == result.text.size()) return false;
  const size_t tail = both_ends ? limit / 5 : 0;
  const std::string_view first = first_characters(result.text, limit - tail);
  const auto whole = static_cast<int64_t>(count_characters(result.text));
  std::string note = fmt::format("[Cut to {} of {} characters.", with_commas(characters), with_commas(whole));
  if (result.truncated && result.size > static_cast<int64_t>(result.text.size()))
    note += fmt::format(" The tool's whole output had {} bytes.", with_commas(result.size));
  note += ']';
  std::string text(first);
  if (tail > 0) text.append("\n[...]\n").append(last_characters(result.text, tail));
  text.append("\n").append(note);
  if (result.size == 0) result.size = static_cast<int64_t>(result.text.size());
  result.truncated = true;
  result.text = std::move(text);
  return true;
}

int64_t cut_message(Message& message, int64_t tokens) {
  std::vector<Part>& parts = message.parts;
  const int64_t frame = estimate_tokens(Message{});
  const auto size = static_cast<int64_t>(parts.size());
  // More parts than can be shown in pieces: the last ones stay. (A call stands before its result.)
  const int64_t shown = std::max<int64_t>((tokens - frame) / part_min, 1);
  int64_t cut = std::max<int64_t>(size - shown, 0);
  parts.erase(parts.begin(), parts.begin() + cut);

  std::vector<int64_t> sizes;
  sizes.reserve(parts.size());
  for (const Part& part : parts) sizes.push_back(estimate_tokens(part));
  // The level to which the largest are cut so that all together fit.
  std::vector<int64_t> sorted = sizes;
  std::ranges::sort(sorted);
  int64_t room = std::max<int64_t>(tokens - frame, 0);
  int64_t level = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    level = room / static_cast<int64_t>(sorted.size() - i);
    if (sorted[i] > level) break;
    room -= sorted[i];
  }
  for (size_t i = 0; i < parts.size(); ++i)
    if (sizes[i] > level) {
      cut_part(parts[i], level);
      ++cut;
    }
  // A name that is a book.
  while (!parts.empty() && estimate_tokens(message) > tokens) {
    parts.erase(parts.begin());
    ++cut;
  }
  return cut;
}

}  // namespace errand::fork
