#include "cli/keys.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

using Kind = Key::Kind;

std::vector<Kind> kinds(const std::vector<Key>& keys) {
  std::vector<Kind> out;
  for (const Key& key : keys) out.push_back(key.kind);
  return out;
}

TEST(Keys, ReadsLettersArrowsAndControls) {
  KeyParser parser;
  EXPECT_EQ(kinds(parser.feed("j\x1b[A\x1bOB\x1b[5~\x1b[1;5C\r\n\t\x7f\x04")),
            (std::vector<Kind>{Kind::character, Kind::up, Kind::down, Kind::page_up, Kind::right, Kind::enter,
                               Kind::enter, Kind::tab, Kind::backspace, Kind::control}));
  EXPECT_EQ(parser.feed("日")[0], (Key{Kind::character, U'日', {}}));
  EXPECT_EQ(parser.feed("\x15")[0], (Key{Kind::control, U'u', {}}));
  EXPECT_FALSE(parser.unfinished());
}

TEST(Keys, CutAnywhereIsTheSame) {
  const std::string bytes = "a\x1b[A\x1b[200~c y\n\x1b[201~日\x1b[3~b";
  KeyParser whole;
  const std::vector<Key> expected = whole.feed(bytes);
  EXPECT_EQ(kinds(expected), (std::vector<Kind>{Kind::character, Kind::up, Kind::paste, Kind::character, Kind::remove,
                                                Kind::character}));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    KeyParser parser;
    std::vector<Key> keys = parser.feed(std::string_view(bytes).substr(0, cut));
    for (const Key& key : parser.feed(std::string_view(bytes).substr(cut))) keys.push_back(key);
    EXPECT_EQ(keys, expected) << cut;
  }
}

TEST(Keys, AnEscapeAloneIsAKeyOnceNothingFollows) {
  KeyParser parser;
  EXPECT_TRUE(parser.feed("\x1b").empty());
  EXPECT_TRUE(parser.unfinished());
  EXPECT_EQ(kinds(parser.settle()), std::vector<Kind>{Kind::escape});
  EXPECT_FALSE(parser.unfinished());
  EXPECT_EQ(kinds(parser.feed("[A")), (std::vector<Kind>{Kind::character, Kind::character}));
}

TEST(Keys, WhatIsPastedIsNeverACommand) {
  KeyParser parser;
  const std::vector<Key> keys = parser.feed("\x1b[200~q\x1b[A\ry\x1b[201~");
  ASSERT_EQ(kinds(keys), std::vector<Kind>{Kind::paste});
  EXPECT_EQ(keys[0].text, "q\x1b[A\ry");
}

TEST(Keys, HoldsNoMoreThanASequence) {
  KeyParser parser;
  EXPECT_TRUE(parser.feed("\x1b[" + std::string(100'000, '1')).empty());
  EXPECT_EQ(kinds(parser.feed("j")), std::vector<Kind>{Kind::character});
}

}  // namespace
}  // namespace errand::cli
