// Bytes of UTF-8 that come in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace errand {

// How many bytes at the end of `bytes` begin a character that is not complete yet. The caller holds them back until
// more bytes come. If they turn out not to begin a character, the text is still the same; they only came later.
inline size_t unfinished(std::string_view bytes) {
  for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace errand
