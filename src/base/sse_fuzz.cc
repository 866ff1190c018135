// An event stream is the same events whichever way it is cut.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/sse.h"

namespace {

using namespace errand;

std::vector<std::string> events(std::string_view bytes, size_t piece) {
  SseParser parser;
  std::vector<std::string> out;
  while (!bytes.empty()) {
    const bool more = parser.feed(bytes.substr(0, piece), [&](const SseEvent& event) {
      out.push_back(event.id + '\0' + event.type + '\0' + event.data);
      return true;
    });
    if (!more) break;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = events(text, size + 1);
  if (events(text, 1) != whole || events(text, 5) != whole) std::abort();
  return 0;
}
