// Forks of whatever conversation the bytes describe keep their promises; so does the estimate of the bytes themselves.
#include <cstdint>
#include <string_view>

#include "fork/conversation_test.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const int64_t tokens = estimate_tokens(text);
  ERRAND_CHECK(tokens >= 0 && tokens <= static_cast<int64_t>(4 * size + 1), "an estimate in reason");
  const size_t prefix = tokens_prefix(text, tokens / 2);
  ERRAND_CHECK(prefix <= size && estimate_tokens(text.substr(0, prefix)) <= tokens / 2 + 1, "a beginning fits");
  ERRAND_CHECK(tokens_suffix(text, tokens / 2) <= size, "an end is of the text");
  size_t at = 0;
  fork::test::check_prepare([&](uint64_t bound) -> uint64_t {
    const uint64_t low = at < size ? data[at++] : 0;
    const uint64_t high = bound > 256 && at < size ? data[at++] : 0;
    return (low | high << 8) % bound;
  });
  return 0;
}
