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

TEST(FitHelp, GoesOnBelowTheDescription) {
  EXPECT_EQ(fit_help("Usage: x\n  --a FILE    one two three four five six seven eight nine\nend\n", 40),
            "Usage: x\n"
            "  --a FILE    one two three four five\n"
            "              six seven eight nine\n"
            "end\n");
  EXPECT_EQ(fit_help("                            a description alone that is too long for it", 60),
            "                            a description alone that is too\n"
            "                            long for it");
  EXPECT_EQ(fit_help("no column but many words in one line that is too long", 40),
            "no column but many words in one line\nthat is too long");
  EXPECT_EQ(fit_help("", 40), "");
}

}  // namespace
}  // namespace errand::cli
