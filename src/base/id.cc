#include "base/id.h"

#include <sys/random.h>

#include "base/check.h"

namespace errand {
namespace {
constexpr char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
}

uint64_t SystemRandom::next() {
  uint64_t value = 0;
  ERRAND_CHECK(getrandom(&value, sizeof value, 0) == sizeof value, "the kernel gives no random bytes");
  return value;
}

// splitmix64: every seed is a good one.
uint64_t SeededRandom::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string IdSource::tail() {
  const int64_t now = clock_.wall().ms;
  if (now > last_ms_) {
    last_ms_ = now;
    high_ = random_.next() & 0x7fff;  // The top bit is left free, so that counting up never overflows into the time.
    low_ = random_.next();
  } else {
    // The same millisecond, or a clock that was set back: count up from the last id, so that order holds.
    if (++low_ == 0) ++high_;
  }
  std::string text;
  text.reserve(32);  // With room for what is put before it.
  text.assign(26, '0');
  uint64_t high = (static_cast<uint64_t>(last_ms_) << 16) | (high_ & 0xffff);  // 64 bits: time and chance.
  uint64_t low = low_;
  for (int i = 25; i >= 0; --i) {
    text[i] = alphabet[low & 31];
    low = (low >> 5) | (high << 59);
    high >>= 5;
  }
  return text;
}

bool is_id(std::string_view text, std::string_view prefix) {
  if (text.size() != prefix.size() + 26 || !text.starts_with(prefix)) return false;
  return text.find_first_not_of(alphabet, prefix.size()) == std::string_view::npos;
}

std::string random_secret(Random& random, int bytes) {
  constexpr char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  uint64_t pool = 0;
  int bits = 0;
  for (int made = 0; made < (bytes * 8 + 5) / 6; ++made) {
    if (bits < 6) {
      pool = random.next();
      bits = 60;  // The last four bits are dropped: a whole number of characters a word.
    }
    out.push_back(base64url[pool & 63]);
    pool >>= 6;
    bits -= 6;
  }
  return out;
}

}  // namespace errand
