// Whatever the bytes are and however they are asked for: UTF-8, bounded, pages that go on; patterns that end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "files/glob.h"
#include "files/look.h"

using namespace errand;
using namespace errand::files;

namespace {

class Bytes final : public Source {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  Result<Chunk> read(int64_t offset, int64_t limit) override {
    const auto at = static_cast<size_t>(std::clamp<int64_t>(offset, 0, size()));
    Chunk chunk{.bytes = std::string(bytes_.substr(at, static_cast<size_t>(limit))), .offset = offset};
    chunk.next = offset + std::ssize(chunk.bytes);
    return chunk;
  }
  int64_t size() override { return std::ssize(bytes_); }
  bool may_be_binary() const override { return false; }

 private:
  std::string_view bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6 || size > 8'192) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 6, size - 6);
  Look what;
  what.offset = static_cast<int8_t>(data[0]) * 16;
  what.limit = 64 + data[1];
  if (data[2] % 2 != 0) what.tail = data[2] / 2;
  what.grep = text.substr(0, data[3] % 4);
  what.context = data[4] % 4;
  what.strip = data[5] % 2 != 0;
  ManualClock clock;
  Bytes source(text);
  const Result<Seen> seen = look(source, what, clock);
  if (!seen || !is_utf8(seen->text) || seen->next > std::max(source.size(), what.offset)) std::abort();
  // What is no text becomes three bytes for one; a search ends with a whole line.
  if (what.grep.empty() && std::ssize(seen->text) > 3 * what.limit) std::abort();
  if (seen->more && !what.tail && what.grep.empty() && seen->next <= seen->offset) std::abort();
  const size_t half = text.size() / 2;
  if (const Result<Glob> glob = Glob::parse(text.substr(0, half))) (void)glob->matches(text.substr(half));
  return 0;
}
