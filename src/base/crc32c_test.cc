#include "base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace errand {
namespace {

// RFC 3720, B.4.
TEST(Crc32c, KnownSums) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string up;
  for (char c = 0; c < 32; ++c) up += c;
  EXPECT_EQ(crc32c(up), 0x46DD794Eu);
}

TEST(Crc32c, PieceByPieceIsTheSame) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 7);
  const uint32_t whole = crc32c(text);
  for (size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32c(std::string_view(text).substr(cut), crc32c(std::string_view(text).substr(0, cut))), whole) << cut;
}

}  // namespace
}  // namespace errand
