// Whatever goes in, what comes out has no control but newline, tab and colours, is UTF-8, and does not depend on where
// the input was cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/escape_filter.h"
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string whole = errand::without_escapes(text, EscapeFilter::Colours::keep);
  check(whole);
  size_t cut = size ? data[0] % (size + 1) : 0;
  EscapeFilter filter(EscapeFilter::Colours::keep);
  std::string pieces = filter.feed(text.substr(0, cut));
  pieces += filter.feed(text.substr(cut));
  pieces += filter.finish();
  if (pieces != whole) std::abort();
  if (errand::one_line(text).find_first_of("\n\t\x1b") != std::string::npos) std::abort();
  return 0;
}
