#include "cli/table.h"

#include <gtest/gtest.h>

#include "cli/width.h"

namespace errand::cli {
namespace {

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(width_of("abc"), 3);
  EXPECT_EQ(width_of("日本語"), 6);
  EXPECT_EQ(width_of("é"), 1);
  EXPECT_EQ(width_of("e\u0301"), 1) << "a combining accent";
  EXPECT_EQ(width_of("한글"), 4);
  EXPECT_EQ(width_of("🎉"), 2);
  EXPECT_EQ(width_of("✓ … ●"), 5);
  EXPECT_EQ(width_of("\xff"), 1) << "what is no UTF-8 is shown as one U+FFFD";
}

TEST(Fit, CutsWithAnEllipsisAndNeverThroughAWideCharacter) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 5), "abcd…");
  EXPECT_EQ(fit("日本語", 6), "日本語");
  EXPECT_EQ(fit("日本語", 5), "日本…");
  EXPECT_EQ(fit("日本語", 4), "日…");
  EXPECT_EQ(fit("abc", 1), "…");
  EXPECT_EQ(fit("abc", 0), "");
}

TEST(Pad, FillsToTheColumn) {
  EXPECT_EQ(pad("日本", 6), "日本  ");
  EXPECT_EQ(pad_left("ab", 4), "  ab");
  EXPECT_EQ(pad("abcdef", 4), "abc…");
}

TEST(Table, AlignsColumnsOfWideText) {
  std::string out = render_table({{"ID"}, {"TITLE", 5}, {"AGE", 0, true}},
                                 {{{"1", ""}, {"日本語", ""}, {"3s", ""}}, {{"22", ""}, {"abc", ""}, {"12m", ""}}},
                                 {80, false, true});
  EXPECT_EQ(out,
            "ID  TITLE   AGE\n"
            "1   日本語   3s\n"
            "22  abc     12m\n");
}

TEST(Table, CutsTheWidestFlexibleColumnUntilItFits) {
  std::string out =
      render_table({{"ID"}, {"TITLE", 4}, {"NOW", 4}},
                   {{{"123", ""}, {"a long title here", ""}, {"also quite long", ""}}}, {24, false, false});
  EXPECT_EQ(out, "123  a long …  also qui…\n");
  EXPECT_EQ(width_of(out) /* the newline has none */, 24);
}

TEST(Table, KeepsItsMinimumWhereTheTerminalIsTooNarrow) {
  std::string out = render_table({{"ID"}, {"TITLE", 4}}, {{{"123456", ""}, {"abcdefgh", ""}}}, {5, false, false});
  EXPECT_EQ(out, "123456  abc…\n");
}

TEST(Table, ColoursDoNotCountAsColumns) {
  std::string out =
      render_table({{"A"}, {"B"}}, {{{"x", "31"}, {"y", ""}}, {{"long", ""}, {"z", ""}}}, {80, true, false});
  EXPECT_EQ(out, "\x1b[31mx\x1b[0m     y\nlong  z\n");
}

TEST(Table, ACellIsOneLineWithoutEscapes) {
  std::string out = render_table({{"A"}}, {{{"x\x1b[2Jy\nz", ""}}}, {80, false, false});
  EXPECT_EQ(out, "xy z\n");
}

TEST(Tabs, HasWholeTextsAndNoHeader) {
  EXPECT_EQ(render_tabs({{{"task_1", "1"}, {"a\tb", ""}, {"", ""}}}), "task_1\ta b\t\n");
}

}  // namespace
}  // namespace errand::cli
