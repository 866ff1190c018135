#include "base/escape_filter.h"

#include "base/text.h"

namespace errand {

namespace {

constexpr char32_t ESC = 0x1B, CSI = 0x9B, ST = 0x9C, BEL = 0x07, CAN = 0x18, SUB = 0x1A;
constexpr size_t parameters_max = 64;

// DCS, SOS, OSC, PM, APC: a string that ends with ST.
bool introduces_string(char32_t c) { return c == 0x90 || c == 0x98 || c == 0x9D || c == 0x9E || c == 0x9F; }

// The number of bytes that the character beginning with `lead` has; 1 where it is none.
size_t length_of(unsigned char lead) {
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if ((lead & 0xF0) == 0xE0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 1;
}

bool is_reset(std::string_view parameters) { return parameters.find_first_not_of("0;") == std::string_view::npos; }

bool is_direction(char32_t c) {
  return c == 0x200E || c == 0x200F || c == 0x061C || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

void EscapeFilter::feed(std::string_view piece, std::string& out) {
  std::string joined;
  if (!partial_.empty()) {
    joined = partial_.append(piece);
    partial_.clear();
    piece = joined;
  }
  while (!piece.empty()) {
    size_t length = length_of(static_cast<unsigned char>(piece[0]));
    if (piece.size() < length) {
      // Held back only while it can still become a character.
      bool hopeful = true;
      for (char byte : piece.substr(1)) hopeful = hopeful && (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
      if (hopeful) {
        partial_ = piece;
        return;
      }
    }
    take(take_character(piece), out);
  }
}

void EscapeFilter::ground(char32_t c, std::string& out) {
  state_ = State::ground;
  if (c == ESC) {
    state_ = State::escape;
  } else if (c == CSI) {
    state_ = State::csi;
    parameters_.clear();
    may_be_colour_ = true;
  } else if (introduces_string(c)) {
    state_ = State::string;
  } else if (c == '\r') {
    put('\n', out);
    state_ = State::after_cr;
  } else if (c == '\n' || c == '\t' || (c >= 0x20 && !(c >= 0x7F && c < 0xA0))) {
    put(c, out);
  }
}

void EscapeFilter::put(char32_t c, std::string& out) {
  hidden_ == Hidden::show ? revealer_.put(c, out) : append_character(out, c);
}

void EscapeFilter::take(char32_t c, std::string& out) {
  // These end any sequence, as on a terminal; ESC begins a new one.
  if (c == CAN || c == SUB) {
    state_ = State::ground;
    return;
  }
  switch (state_) {
    case State::ground:
      ground(c, out);
      return;
    case State::after_cr:
      if (c == '\n') {
        state_ = State::ground;  // The CR has been told as a newline already.
      } else {
        ground(c, out);
      }
      return;
    case State::escape:
      if (c == '[') {
        ground(CSI, out);
      } else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_') {
        state_ = State::string;
      } else if (c >= 0x20 && c <= 0x2F) {
        state_ = State::escape_intermediate;
      } else if (c == ESC) {
        state_ = State::escape;
      } else if (c >= 0x30 && c <= 0x7E) {
        state_ = State::ground;
      } else {
        ground(c, out);
      }
      return;
    case State::escape_intermediate:
      if (c >= 0x30 && c <= 0x7E) {
        state_ = State::ground;
      } else if (c < 0x20 || c > 0x7E) {
        ground(c, out);
      }
      return;
    case State::csi:
      if (c >= 0x40 && c <= 0x7E) {
        state_ = State::ground;
        if (c != 'm' || !may_be_colour_ || colours_ == Colours::drop) return;
        revealer_.flush(out);
        out.append("\x1b[").append(parameters_).append("m");
        coloured_ = !is_reset(parameters_);
      } else if ((c >= '0' && c <= '9') || c == ';' || c == ':') {
        if (parameters_.size() < parameters_max) {
          parameters_ += static_cast<char>(c);
        } else {
          may_be_colour_ = false;
        }
      } else if (c >= 0x20 && c <= 0x3F) {
        may_be_colour_ = false;  // Private or intermediate: "?25l", " q".
      } else if (c == ESC || c == '\n' || c >= 0x7F) {
        ground(c, out);
      }
      // Other controls inside a sequence vanish with it.
      return;
    case State::string:
      if (c == BEL || c == ST) state_ = State::ground;
      if (c == ESC) state_ = State::string_escape;
      if (c == '\n') ground(c, out);
      return;
    case State::string_escape:
      if (c == '\\') {
        state_ = State::ground;
      } else if (c != ESC) {
        state_ = State::escape;
        take(c, out);
      }
      return;
  }
}

std::string EscapeFilter::finish() {
  std::string out;
  std::string held = std::move(partial_);
  partial_.clear();
  for (std::string_view rest = held; !rest.empty();) take(take_character(rest), out);
  revealer_.flush(out);
  if (coloured_) out += "\x1b[0m";
  coloured_ = false;
  state_ = State::ground;
  return out;
}

std::string without_escapes(std::string_view text, EscapeFilter::Colours colours, EscapeFilter::Hidden hidden) {
  EscapeFilter filter(colours, hidden);
  std::string out = filter.feed(text);
  return out += filter.finish();
}

namespace {

// Runs of white space become one space; `kept` says of any other character whether it stays.
template <typename Kept>
std::string joined(std::string_view plain, Kept kept) {
  std::string out;
  bool space = false;
  while (!plain.empty()) {
    const char32_t c = take_character(plain);
    if (c == ' ' || c == '\t' || c == '\n' || c == 0x2028 || c == 0x2029) {
      space = !out.empty();
    } else if (kept(c)) {
      if (space) out += ' ';
      space = false;
      append_character(out, c);
    }
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view text) {
  return joined(without_escapes(text, EscapeFilter::Colours::drop), [](char32_t c) { return !is_direction(c); });
}

std::string shown_line(std::string_view text) {
  return joined(without_escapes(text, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show),
                [](char32_t) { return true; });
}

}  // namespace errand
