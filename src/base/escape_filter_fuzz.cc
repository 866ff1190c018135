// Whatever goes in, what comes out has no control but newline, tab and colours, is UTF-8, and does not depend on where
// the input was cut; where hidden characters are shown, none is left but joiners inside of words and emoji.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/escape_filter.h"
#include "base/hidden.h"
#include "base/text.h"

using errand::EscapeFilter;

static void check(std::string_view out) {
  if (!errand::is_utf8(out)) std::abort();
  for (size_t i = 0; i < out.size(); ++i) {
    auto byte = static_cast<unsigned char>(out[i]);
    if (byte == 0x1B) {
      if (i + 1 >= out.size() || out[i + 1] != '[') std::abort();
      i = out.find_first_not_of("0123456789;:", i + 2);
      if (i == std::string_view::npos || out[i] != 'm') std::abort();
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      std::abort();
    } else if (byte == 0xC2 && static_cast<unsigned char>(out[i + 1]) < 0xA0) {
      std::abort();
    }
  }
}

static std::string in_pieces(std::string_view text, size_t cut, EscapeFilter::Hidden hidden) {
  EscapeFilter filter(EscapeFilter::Colours::keep, hidden);
  std::string out = filter.feed(text.substr(0, cut));
  out += filter.feed(text.substr(cut));
  return out += filter.finish();
}

static void check_shown(std::string_view out) {
  for (std::string_view rest = out; !rest.empty();) {
    const char32_t c = errand::take_character(rest);
    if (errand::is_hidden(c) && c != 0x200C && c != 0x200D) std::abort();
  }
  // What was shown once is as it is.
  if (errand::revealed(out) != out) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t cut = size ? data[0] % (size + 1) : 0;
  for (auto hidden : {EscapeFilter::Hidden::keep, EscapeFilter::Hidden::show}) {
    std::string whole = errand::without_escapes(text, EscapeFilter::Colours::keep, hidden);
    check(whole);
    if (in_pieces(text, cut, hidden) != whole) std::abort();
    if (hidden == EscapeFilter::Hidden::show) check_shown(whole);
  }
  if (errand::one_line(text).find_first_of("\n\t\x1b") != std::string::npos) std::abort();
  const std::string line = errand::shown_line(text);
  if (line.find_first_of("\n\t\x1b") != std::string::npos) std::abort();
  check_shown(line);
  return 0;
}
