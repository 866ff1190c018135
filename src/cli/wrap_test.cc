#include "cli/wrap.h"

#include <gtest/gtest.h>

#include "cli/width.h"

namespace errand::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrap, BreaksAtSpacesAndInsideOfWordsThatAreTooLong) {
  EXPECT_EQ(wrap("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one two", 7), (Lines{"one two"}));
  EXPECT_EQ(wrap("abcdefghij", 4), (Lines{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap("日本語", 4), (Lines{"日本", "語"}));
  EXPECT_EQ(wrap("", 4), (Lines{""}));
  EXPECT_EQ(wrap("a\n\nb", 4), (Lines{"a", "", "b"}));
}

TEST(Wrap, KeepsEveryCharacterButTheSpacesOfBreaks) {
  const std::string text = "The quick brown fox, 日本語テキスト and aVeryLongWordThatDoesNotFit anywhere";
  std::string bare = text;
  std::erase(bare, ' ');
  for (int columns = 2; columns < 40; ++columns) {
    std::string all;
    for (const std::string& line : wrap(text, columns)) {
      EXPECT_LE(width_of(line), columns);
      all += line;
    }
    std::erase(all, ' ');
    EXPECT_EQ(all, bare) << columns;
  }
}

TEST(Wrap, StylesGoOnOverABreak) {
  const std::vector<Runs> lines = wrap(Runs{{"a ", ""}, {"bold words", "1"}}, 7);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(to_text(lines[0], true), "a \x1b[1mbold\x1b[0m");
  EXPECT_EQ(to_text(lines[1], true), "\x1b[1mwords\x1b[0m");
  EXPECT_EQ(to_text(lines[1], false), "words");
}

}  // namespace
}  // namespace errand::cli
