#include "cli/markdown.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/width.h"

namespace errand::cli {
namespace {

std::string plain(std::string_view text, int width = 80) {
  Markdown markdown(true);
  std::string out = markdown.feed(text, width);
  return without_escapes(out + markdown.finish(width), EscapeFilter::Colours::drop);
}

std::string coloured(std::string_view text) {
  Markdown markdown(true);
  std::string out = markdown.feed(text, 80);
  return out + markdown.finish(80);
}

TEST(Markdown, RendersBlocks) {
  EXPECT_EQ(
      plain("# Title\n\n- one\n- two\n  * deeper\n1. first\n> said\n---\n"),
      "Title\n\n• one\n• two\n  • deeper\n1. first\n│ said\n" +
          [] {
            std::string rule;
            for (int i = 0; i < 40; ++i) rule += "─";
            return rule;
          }() +
          "\n");
  EXPECT_EQ(plain("```sh\nls *a* **b**\n```\nafter"), "│ ls *a* **b**\nafter\n");
  EXPECT_EQ(plain("- [ ] open\n- [x] done"), "☐ open\n☑ done\n");
  EXPECT_EQ(plain("- one two three four", 12), "• one two\n  three four\n") << "hanging";
}

TEST(Markdown, RendersEmphasisCodeAndLinks) {
  EXPECT_EQ(coloured("a **bold** word\n"), "a \x1b[1mbold\x1b[0m word\n");
  EXPECT_EQ(coloured("`x*y*z`\n"), "\x1b[36mx*y*z\x1b[0m\n");
  EXPECT_EQ(plain("***both*** and **a *b* c**, ~~gone~~"), "both and a b c, gone\n");
  EXPECT_EQ(plain("see [the docs](https://a.example/x) and [b](b)"), "see the docs (https://a.example/x) and b\n");
  EXPECT_EQ(plain("snake_case_name, 2 * 3 * 4, a ** b, \\*not\\*, **open"),
            "snake_case_name, 2 * 3 * 4, a ** b, *not*, **open\n");
}

TEST(Markdown, AlignsATableThatFitsAndLeavesOneThatDoesNot) {
  const std::string table = "| a | long name |\n|---|---|\n| 日本 | **b** |\n";
  EXPECT_EQ(plain(table), "a    │ long name\n─────┼──────────\n日本 │ b\n");
  EXPECT_NE(plain(table, 12).find("| a |"), std::string::npos);
  EXPECT_EQ(plain("| not a table\ntext"), "| not a table\ntext\n");
}

TEST(Markdown, WithoutColoursTheMarksStay) {
  Markdown markdown(false);
  EXPECT_EQ(markdown.feed("# T\n**b** `c`\n```\nx\n```\n", 80), "# T\n**b** `c`\n```\nx\n```\n");
}

TEST(Markdown, CutAnywhereIsTheSame) {
  const std::string text =
      "# 日本\n\ntext **bold** and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n| x |\n```\n- end";
  const std::string expected = coloured(text);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Markdown markdown(true);
    std::string out = markdown.feed(std::string_view(text).substr(0, cut), 80);
    for (const std::string& line : markdown.unfinished(80))
      EXPECT_LE(width_of(without_escapes(line, EscapeFilter::Colours::drop)), 80);
    out += markdown.feed(std::string_view(text).substr(cut), 80);
    EXPECT_EQ(out + markdown.finish(80), expected) << cut;
  }
}

TEST(Markdown, HostileTextIsHarmlessAndFits) {
  const std::string hostile = "\x1b]52;c;AAAA\x07**\x1b[2Jb**\u202e [x](\x1b]0;t\x07) `\x1b[31m`\n" +
                              std::string(3'000, '*') + "a\n" + std::string(3'000, '[') + "\n" +
                              std::string(20'000, '_') + "\n| " + std::string(500, '|') + "\n";
  Markdown markdown(true);
  std::string out = markdown.feed(hostile, 40);
  out += markdown.finish(40);
  EXPECT_EQ(without_escapes(out, EscapeFilter::Colours::keep), out);
  for (const std::string_view line : split(out, '\n'))
    EXPECT_LE(width_of(without_escapes(line, EscapeFilter::Colours::drop)), 40);
  EXPECT_EQ(out.find("52;c"), std::string::npos);
}

}  // namespace
}  // namespace errand::cli
