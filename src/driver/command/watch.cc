#include "driver/command/watch.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/encode.h"
#include "base/text.h"

namespace errand::command {
namespace {

// What a round may cost, in what looking for a text costs for a byte: about a tenth of a nanosecond, so some
// milliseconds of at most 20 rounds a second. The others as they were measured; an expression that is too large for
// RE2's automaton costs by its size.
constexpr int64_t round_budget = 25 << 20;
constexpr int64_t expression_cost = 20;
constexpr int small_expression = 64;
constexpr int64_t large_expression_cost = 5;  // Times its size.
constexpr int expression_size_max = 1'000;
constexpr int64_t line_cost = 2'000;      // To take a line apart,
constexpr int64_t line_byte_cost = 20;    // and for each byte of it.
constexpr size_t slice_bytes = 32 << 10;  // Looked at together: so much is done also where it costs more than there is.
constexpr size_t tail_bytes = 4 << 10;    // Looked at, of what a round leaves out.
constexpr int64_t tail_budget = 16 << 20;
constexpr int64_t expression_memory = 1 << 20;
constexpr size_t state_fields = 9;

size_t find_line_end(std::string_view bytes) { return bytes.find_first_of("\n\r"); }

// Anything that plain_line takes out. Without a way out in the middle: so it is done many bytes at a time.
bool has_controls(std::string_view bytes) {
  unsigned found = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    found |= static_cast<unsigned>(byte < 0x20) & static_cast<unsigned>(byte != '\t') &
             static_cast<unsigned>(byte != '\n') & static_cast<unsigned>(byte != '\r');
  }
  return found != 0;
}

// Terminal escapes and other control bytes are gone; what is no UTF-8 is replaced.
std::string plain_line(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    const auto c = static_cast<unsigned char>(raw[i]);
    if (c != 0x1b) {
      if (c >= 0x20 || c == '\t') out += raw[i];
      continue;
    }
    if (++i >= raw.size()) break;
    if (raw[i] == '[') {  // CSI: up to its final byte.
      while (++i < raw.size() && (raw[i] < 0x40 || raw[i] > 0x7e)) {
      }
    } else if (std::string_view("]PX^_").contains(raw[i])) {  // A string: up to BEL or ESC \.
      while (++i < raw.size() && raw[i] != 0x07 && raw[i] != 0x1b) {
      }
      if (i + 1 < raw.size() && raw[i] == 0x1b) ++i;
    } else if (std::string_view("()*+-./#% ").contains(raw[i])) {
      ++i;  // A character set, of three bytes.
    }
  }
  return to_utf8(out);
}

bool read_line(std::string_view hex, std::string& out) {
  if (hex.size() > 4 * line_max) return false;
  std::optional<std::string> line = from_hex(hex);
  if (line) out = std::move(*line);
  return line.has_value();
}

bool to_number(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

RE2::Options expression_options(bool any_case) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(expression_memory);
  options.set_case_sensitive(!any_case);
  return options;
}

struct Parsed {
  std::string text;
  bool expression = false;
  bool any_case = false;
};

Parsed parse_pattern(const std::string& pattern) {
  const bool any_case = pattern.ends_with("/i");
  const size_t end = pattern.size() - (any_case ? 2 : 1);
  if (pattern.size() < 3 || pattern[0] != '/' || pattern[end] != '/' || end < 2) return {pattern};
  return {pattern.substr(1, end - 1), true, any_case};
}

// Whether a search over many lines at once finds every line that matches by itself, where (?m) is put in front.
bool searches_lines(std::string_view expression) {
  return !expression.contains("\\A") && !expression.contains("\\z") && !expression.contains("(?");
}

}  // namespace

struct Watch::Pattern {
  std::string name;  // As it was given.
  std::string text;
  std::unique_ptr<RE2> line;   // Of an expression: for one line,
  std::unique_ptr<RE2> lines;  // and for many; null: each line has to be looked at.
  bool anchored = false;       // Its ^ and $ know only line feeds.
  int64_t cost = 1;            // For a byte.

  bool matches(std::string_view plain) const {
    if (line) return RE2::PartialMatch({plain.data(), plain.size()}, *line);
    return !text.empty() && plain.contains(text);
  }
};

Status check_patterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const Parsed parsed = parse_pattern(pattern);
    if (!parsed.expression) continue;
    const RE2 expression(parsed.text, expression_options(parsed.any_case));
    if (!expression.ok())
      return fail(
          Code::invalid_argument,
          fmt::format("notify_on: {} is not a regular expression ({}); a pattern without slashes is plain text.",
                      pattern, expression.error()),
          "pattern");
    if (expression.ProgramSize() > expression_size_max)
      return fail(Code::invalid_argument,
                  fmt::format("notify_on: {} is too large an expression; use smaller counts in its {{...}}.", pattern),
                  "pattern");
  }
  return {};
}

Watch::Watch(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    Parsed parsed = parse_pattern(pattern);
    Pattern& made = patterns_.emplace_back();
    made.name = pattern;
    if (parsed.expression) {
      made.line = std::make_unique<RE2>(parsed.text, expression_options(parsed.any_case));
      made.anchored = parsed.text.contains('^') || parsed.text.contains('$');
      const int size = made.line->ProgramSize();
      made.cost = size <= small_expression ? expression_cost : size * large_expression_cost;
      if (searches_lines(parsed.text))
        made.lines = std::make_unique<RE2>("(?m)" + parsed.text, expression_options(parsed.any_case));
    } else {
      made.text = std::move(parsed.text);
    }
    byte_cost_ += made.cost;
  }
}

Watch::~Watch() = default;
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;

bool Watch::watches() const { return !patterns_.empty(); }
bool Watch::waits() const { return left_.count > 0 || !lines_[0].bytes.empty() || !lines_[1].bytes.empty(); }

std::string Watch::state() const {
  if (!begun_) return {};
  std::string out = fmt::format("{};{};{};{};{};{};{}", room_, room_at_.ms, last_at_.ms, behind_said_ ? 1 : 0,
                                left_.count, left_.pattern, to_hex(left_.line));
  for (const Line& line : lines_) out += (line.over ? ";+" : ";-") + to_hex(line.bytes);
  return out;
}

void Watch::restore(std::string_view state) {
  const std::vector<std::string_view> fields = split(state, ';');
  if (fields.size() != state_fields) return;
  int64_t numbers[6] = {};
  for (size_t i = 0; i < 6; ++i)
    if (!to_number(fields[i], numbers[i])) return;
  Left left{numbers[4], static_cast<size_t>(numbers[5]), {}};
  Line lines[2];
  if (!read_line(fields[6], left.line) || left.pattern >= patterns_.size()) return;
  for (size_t i = 0; i < 2; ++i) {
    const std::string_view field = fields[7 + i];
    if (field.empty() || (field[0] != '+' && field[0] != '-') || !read_line(field.substr(1), lines[i].bytes)) return;
    lines[i].over = field[0] == '+';
  }
  begun_ = true;
  room_ = std::min(numbers[0], match_burst * match_every_ms);
  room_at_ = {numbers[1]};
  last_at_ = {numbers[2]};
  behind_said_ = numbers[3] != 0;
  left_ = std::move(left);
  for (size_t i = 0; i < 2; ++i) lines_[i] = std::move(lines[i]);
}

void Watch::begin_round() { budget_ = round_budget; }

// False: the round has cost enough already.
bool Watch::spend(int64_t cost) {
  if (budget_ <= 0) return false;
  budget_ -= cost;
  return true;
}

void Watch::add(const process::Piece& piece) {
  if (!watches()) return;
  begun_ = true;
  last_at_ = std::max(last_at_, piece.at);
  Line& line = lines_[static_cast<size_t>(piece.stream)];
  std::string_view bytes = piece.bytes;
  const size_t first = find_line_end(bytes);
  add_text(line, bytes.substr(0, first));
  if (first == std::string_view::npos) return;
  end_line(line);
  bytes.remove_prefix(first + 1);
  // Whole lines, as many together as a slice holds.
  for (;;) {
    size_t last = bytes.substr(0, slice_bytes).find_last_of("\n\r");
    if (last == std::string_view::npos) last = find_line_end(bytes);
    if (last == std::string_view::npos) break;
    const std::string_view lines = bytes.substr(0, last + 1);
    if (could_match(lines)) look_at_lines(lines);
    bytes.remove_prefix(last + 1);
  }
  add_text(line, bytes);
}

void Watch::add_text(Line& line, std::string_view bytes) {
  if (line.over) return;
  const size_t room = line_max - line.bytes.size();
  line.bytes.append(bytes.substr(0, room));
  if (bytes.size() < room) return;
  look_at(line);
  line = {.bytes = {}, .over = true};
}

void Watch::end_line(Line& line) {
  if (!line.over) look_at(line);
  line = {};
}

bool Watch::look_at(const Line& line) {
  if (line.bytes.empty()) return false;
  if (!spend(line_cost + std::ssize(line.bytes) * (line_byte_cost + byte_cost_))) {
    leave_out(line.bytes + '\n');
    return false;
  }
  std::string plain = plain_line(line.bytes);
  if (plain.empty()) return false;
  for (size_t i = 0; i < patterns_.size(); ++i)
    if (patterns_[i].matches(plain)) {
      matched(i, std::move(plain));
      return true;
    }
  return false;
}

// False: certainly nothing in these whole lines matches. Cheap, so that most output costs little.
bool Watch::could_match(std::string_view lines) {
  const auto size = std::ssize(lines);
  // What is taken out of a line can join what was apart.
  const bool escapes = has_controls(lines);
  for (const Pattern& pattern : patterns_) {
    if (!spend(size * pattern.cost)) return true;
    if (escapes) return true;
    if (pattern.line) {
      const bool returns = pattern.anchored && std::memchr(lines.data(), '\r', lines.size()) != nullptr;
      if (!pattern.lines || returns || !is_utf8(lines)) return true;
      if (RE2::PartialMatch({lines.data(), lines.size()}, *pattern.lines)) return true;
    } else if (::memmem(lines.data(), lines.size(), pattern.text.data(), pattern.text.size()) != nullptr) {
      return true;
    }
  }
  return false;
}

void Watch::look_at_lines(std::string_view lines) {
  while (!lines.empty()) {
    if (budget_ <= 0) return leave_out(lines);
    const size_t end = find_line_end(lines);
    look_at({.bytes = std::string(lines.substr(0, std::min(end, line_max)))});
    lines.remove_prefix(end + 1);
  }
}

// The round has cost enough. Of what is left out the newest is looked at when the round is over.
void Watch::leave_out(std::string_view lines) {
  behind();
  tail_.append(lines.substr(lines.size() - std::min(lines.size(), 2 * tail_bytes)));
  if (tail_.size() <= tail_bytes) return;
  tail_.erase(0, tail_.size() - tail_bytes);
  tail_.erase(0, std::min(find_line_end(tail_), tail_.size() - 1) + 1);
}

void Watch::look_at_tail() {
  const std::string tail = std::exchange(tail_, {});
  if (tail.empty()) return;
  budget_ = tail_budget;
  look_at_lines(tail);
  tail_.clear();
}

void Watch::matched(size_t pattern, std::string line) {
  if (room_at_) room_ = std::min(room_ + std::max<Millis>(last_at_ - room_at_, 0), match_burst * match_every_ms);
  room_at_ = last_at_;
  line.resize(utf8_prefix(line, line_max));
  if (room_ < match_every_ms) {
    left_ = {left_.count + 1, pattern, std::move(line)};
    return;
  }
  room_ -= match_every_ms;
  made_.emplace_back(report::Match{patterns_[pattern].name, std::move(line), std::exchange(left_, {}).count});
}

void Watch::tell_left() {
  if (left_.count == 0) return;
  Left left = std::exchange(left_, {});
  made_.emplace_back(report::Match{patterns_[left.pattern].name, std::move(left.line), left.count - 1});
}

void Watch::gap() {
  begun_ = watches();
  for (Line& line : lines_) line = {.bytes = {}, .over = true};
  behind();
}

void Watch::behind() {
  if (!watches() || std::exchange(behind_said_, true)) return;
  made_.emplace_back(report::Warning{
      "watch_behind",
      "The output comes faster than it can be watched: part of it is not looked at for notify_on. All of it is in the "
      "log, as far as its limit goes."});
}

void Watch::quiet() {
  begin_round();
  last_at_ = last_at_ + quiet_ms;
  for (Line& line : lines_)
    if (!line.over && look_at(line)) line = {.bytes = {}, .over = true};
  tell_left();
}

void Watch::finish() {
  look_at_tail();
  begin_round();
  for (Line& line : lines_) end_line(line);
  tell_left();
}

std::vector<Report> Watch::take() {
  look_at_tail();
  return std::exchange(made_, {});
}

}  // namespace errand::command
