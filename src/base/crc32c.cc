#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace errand {
namespace {

using Table = std::array<std::array<uint32_t, 256>, 8>;

constexpr Table make_table() {
  Table table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82F63B78u : 0u);
    table[0][i] = sum;
  }
  for (size_t row = 1; row < 8; ++row)
    for (size_t i = 0; i < 256; ++i) table[row][i] = (table[row - 1][i] >> 8) ^ table[0][table[row - 1][i] & 0xFF];
  return table;
}

constexpr Table table = make_table();

uint32_t by_table(const char* at, size_t size, uint32_t sum) {
  for (; size >= 8; size -= 8, at += 8) {
    unsigned char bytes[8];
    std::memcpy(bytes, at, 8);
    for (size_t i = 0; i < 4; ++i) bytes[i] ^= static_cast<unsigned char>(sum >> (8 * i));
    sum = 0;
    for (size_t i = 0; i < 8; ++i) sum ^= table[7 - i][bytes[i]];
  }
  for (; size > 0; --size, ++at) sum = (sum >> 8) ^ table[0][(sum ^ static_cast<unsigned char>(*at)) & 0xFF];
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(const char* at, size_t size, uint32_t sum) {
  uint64_t wide = sum;
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  sum = static_cast<uint32_t>(wide);
  for (; size > 0; --size, ++at) sum = __builtin_ia32_crc32qi(sum, static_cast<unsigned char>(*at));
  return sum;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t sum) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(bytes.data(), bytes.size(), ~sum);
#endif
  return ~by_table(bytes.data(), bytes.size(), ~sum);
}

}  // namespace errand
