#include "cli/keys.h"

#include <algorithm>

#include "base/text.h"

namespace errand::cli {
namespace {

constexpr std::string_view paste_begin = "\x1b[200~", paste_end = "\x1b[201~";
constexpr size_t paste_max = 1 << 20;  // What is longer is cut.
constexpr size_t sequence_max = 32;    // A longer one is none.

Key::Kind by_final(char final) {
  switch (final) {
    case 'A':
      return Key::Kind::up;
    case 'B':
      return Key::Kind::down;
    case 'C':
      return Key::Kind::right;
    case 'D':
      return Key::Kind::left;
    case 'H':
      return Key::Kind::home;
    case 'F':
      return Key::Kind::end;
    case 'M':
      return Key::Kind::enter;  // Of the keypad, after ESC O.
    default:
      return Key::Kind::other;
  }
}

Key::Kind by_number(int64_t value) {
  switch (value) {
    case 1:
    case 7:
      return Key::Kind::home;
    case 3:
      return Key::Kind::remove;
    case 4:
    case 8:
      return Key::Kind::end;
    case 5:
      return Key::Kind::page_up;
    case 6:
      return Key::Kind::page_down;
    default:
      return Key::Kind::other;
  }
}

int first_number(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > 1'000) break;
    value = value * 10 + (c - '0');
  }
  return value;
}

size_t length_of_character(unsigned char first) { return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

Key control(unsigned char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return {Key::Kind::enter, 0, {}};
    case '\t':
      return {Key::Kind::tab, 0, {}};
    case 0x7F:
    case 0x08:
      return {Key::Kind::backspace, 0, {}};
    default:
      return {Key::Kind::control, byte < 27 ? static_cast<char32_t>(byte + 'a' - 1) : U' ', {}};
  }
}

}  // namespace

std::vector<Key> KeyParser::feed(std::string_view bytes) {
  held_ += bytes;
  std::vector<Key> out;
  while (take(out)) {
  }
  return out;
}

std::vector<Key> KeyParser::settle() {
  std::vector<Key> out;
  if (pasting_ || held_.empty()) return out;
  if (held_.front() == '\x1b') out.push_back({Key::Kind::escape, 0, {}});
  held_.clear();
  return out;
}

// The first key of what is held; false where it is not whole.
bool KeyParser::take(std::vector<Key>& out) {
  if (pasting_) {
    const size_t end = held_.find(paste_end);
    // Without its end, all but what may be the end's beginning.
    const size_t whole = end != std::string::npos ? end : held_.size() - std::min(held_.size(), paste_end.size() - 1);
    pasted_.append(held_, 0, std::min(whole, paste_max - std::min(paste_max, pasted_.size())));
    held_.erase(0, whole);
    if (end == std::string::npos) return false;
    held_.erase(0, paste_end.size());
    out.push_back({Key::Kind::paste, 0, to_utf8(pasted_)});
    pasted_.clear();
    pasting_ = false;
    return true;
  }
  if (held_.empty()) return false;
  const auto first = static_cast<unsigned char>(held_.front());
  if (first != 0x1B) {
    const size_t length = length_of_character(first);
    if (held_.size() < length) return false;
    std::string_view rest = std::string_view(held_).substr(0, length);
    const char32_t character = take_character(rest);
    held_.erase(0, length - rest.size());
    const bool plain = character >= 0x20 && character != 0x7F && (character < 0x80 || character >= 0xA0);
    out.push_back(plain ? Key{Key::Kind::character, character, {}} : control(first));
    return true;
  }
  if (held_.size() == 1) return false;
  if (held_[1] == 'O') {
    if (held_.size() < 3) return false;
    out.push_back({by_final(held_[2]), 0, {}});
    held_.erase(0, 3);
    return true;
  }
  if (held_[1] != '[') {
    // Alt and a key, or Escape and then a key: the first is used for nothing here.
    out.push_back({Key::Kind::escape, 0, {}});
    held_.erase(0, 1);
    return true;
  }
  const auto final = std::find_if(held_.begin() + 2, held_.end(), [](char c) { return c < 0x20 || c > 0x3F; });
  if (final == held_.end()) {
    if (held_.size() < sequence_max) return false;
    held_.clear();
    return false;
  }
  const std::string sequence(held_.begin(), final + 1);
  held_.erase(0, sequence.size());
  if (sequence == paste_begin) {
    pasting_ = true;
  } else if (sequence.back() == '~') {
    out.push_back({by_number(first_number(std::string_view(sequence).substr(2))), 0, {}});
  } else {
    out.push_back({sequence.back() == 'M' ? Key::Kind::other : by_final(sequence.back()), 0, {}});
  }
  return true;
}

}  // namespace errand::cli
