// CRC-32C (Castagnoli): what tells a flipped bit. With the processor's instruction where it has one.
#pragma once

#include <cstdint>
#include <string_view>

namespace errand {

// Of bytes that follow those that `sum` is of; 0 is the sum of nothing. crc32c("123456789") is 0xE3069283.
uint32_t crc32c(std::string_view bytes, uint32_t sum = 0);

}  // namespace errand
