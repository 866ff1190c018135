#include "store/sqlite/seal.h"

#include <cstring>

namespace errand::sqlite {

void Seal::add(std::string_view text) {
  mix(text.size() + 1);
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    mix(word);
    text.remove_prefix(sizeof(word));
  }
  uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  mix(rest);
}

}  // namespace errand::sqlite
