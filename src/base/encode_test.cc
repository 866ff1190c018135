#include "base/encode.h"

#include <gtest/gtest.h>

#include "base/id.h"
#include "base/time.h"

namespace errand {
namespace {

// RFC 4648, section 10.
TEST(Encode, Base64OfTheStandardsOwnExamples) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Encode, Base64ForUrlsHasItsOwnDigitsAndNoPadding) {
  EXPECT_EQ(to_base64("\xfb\xff\xfe\xff"), "+//+/w==");
  EXPECT_EQ(to_base64url("\xfb\xff\xfe\xff"), "-__-_w");
  EXPECT_EQ(from_base64("-__-_w"), "\xfb\xff\xfe\xff");
}

TEST(Encode, Base64IsReadAcrossLineBreaksAndRefusedWithOtherCharacters) {
  EXPECT_EQ(from_base64("Zm9v\r\nYmFy\n"), "foobar");
  EXPECT_EQ(from_base64("Zm9v YmFy"), std::nullopt);
  EXPECT_EQ(from_base64("Zm9v\xc3"), std::nullopt);
}

TEST(Encode, HexIsLowerCaseAndReadInBoth) {
  EXPECT_EQ(to_hex(std::string_view("\0\x7f\xff", 3)), "007fff");
  EXPECT_EQ(from_hex("007FfF"), std::string("\0\x7f\xff", 3));
  EXPECT_EQ(from_hex(""), "");
  for (const char* const wrong : {"0", "0g", "g0", "+1", " 1", "0x"}) EXPECT_EQ(from_hex(wrong), std::nullopt) << wrong;
}

TEST(Encode, WhateverTheBytesAreTheyComeBack) {
  SeededRandom random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::string bytes(random.next() % 100, '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(from_base64(to_base64url(bytes)), bytes);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  }
}

}  // namespace
}  // namespace errand
