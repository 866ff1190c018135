#include "base/hidden.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"

namespace errand {

namespace {

struct Range {
  char32_t first, last;
};

template <size_t N>
bool in(const Range (&ranges)[N], char32_t c) {
  const Range* found = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                        [](const Range& range, char32_t value) { return range.last < value; });
  return found != std::end(ranges) && found->first <= c;
}

// Unicode's Default_Ignorable_Code_Point without variation selectors, the separators of lines and paragraphs, and the
// marks of interlinear notes; sorted.
constexpr Range hidden[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180E, 0x180E},
    {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xE01F0, 0xE0FFF},
};

// Where a joiner changes how its neighbours are written: Arabic, Syriac, N'Ko, Mandaic; Devanagari to Myanmar; Khmer,
// Mongolian; the forms of Arabic.
constexpr Range joining[] = {
    {0x0600, 0x061B}, {0x061D, 0x08FF}, {0x0900, 0x0DFF}, {0x1000, 0x109F}, {0x1780, 0x17B3},
    {0x17B6, 0x180D}, {0x180F, 0x18AF}, {0xA840, 0xA87F}, {0xFB50, 0xFDFF}, {0xFE70, 0xFEFC},
};

// What emoji are joined of.
constexpr Range emoji[] = {
    {0x2190, 0x21FF}, {0x2300, 0x23FF}, {0x2600, 0x27BF}, {0x2B00, 0x2BFF}, {0x1F000, 0x1FAFF},
};

// White space, and what is drawn as nothing.
constexpr Range blank[] = {
    {0x0000, 0x0020}, {0x007F, 0x00A0}, {0x1680, 0x1680}, {0x2000, 0x200A},   {0x202F, 0x202F},
    {0x205F, 0x205F}, {0x2800, 0x2800}, {0x3000, 0x3000}, {0x1D159, 0x1D159},
};

constexpr char32_t ZWNJ = 0x200C, ZWJ = 0x200D;

bool is_selector(char32_t c) {
  return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF) || (c >= 0x180B && c <= 0x180D) || c == 0x180F;
}

void append_escape(std::string& out, char32_t c) {
  out += c > 0xFFFF ? fmt::format("\\U{:08x}", static_cast<uint32_t>(c))
                    : fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
}

}  // namespace

bool is_hidden(char32_t character) { return in(hidden, character); }

void Revealer::flush(std::string& out) {
  if (held_) append_escape(out, held_);
  held_ = 0;
  before_ = 0;
  selected_ = false;
}

void Revealer::put(char32_t c, std::string& out) {
  if (held_) {
    const bool joins = (in(joining, before_) && in(joining, c)) || (held_ == ZWJ && in(emoji, before_) && in(emoji, c));
    if (joins) {
      append_character(out, held_);
      held_ = 0;
    } else {
      flush(out);
    }
  }
  if (is_selector(c)) {
    // Several in a row select nothing: they can carry a hidden text.
    if (before_ && !selected_) {
      append_character(out, c);
      selected_ = true;
    } else {
      append_escape(out, c);
      before_ = 0;
    }
    return;
  }
  selected_ = false;
  if ((c == ZWJ || c == ZWNJ) && before_) {
    held_ = c;
    return;
  }
  if (is_hidden(c)) {
    append_escape(out, c);
    before_ = 0;
    return;
  }
  append_character(out, c);
  before_ = c > 0x20 ? c : 0;
}

std::string revealed(std::string_view text) {
  Revealer revealer;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) revealer.put(take_character(text), out);
  revealer.flush(out);
  return out;
}

std::string revealed_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const std::string_view before = json;
    const char32_t c = take_character(json);
    if (!is_hidden(c)) {
      out += before.substr(0, before.size() - json.size());
    } else if (c > 0xFFFF) {
      const uint32_t rest = static_cast<uint32_t>(c) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      append_escape(out, c);
    }
  }
  return out;
}

bool is_invisible(std::string_view text) {
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (!in(blank, c) && !is_hidden(c) && !is_selector(c)) return false;
  }
  return true;
}

}  // namespace errand
