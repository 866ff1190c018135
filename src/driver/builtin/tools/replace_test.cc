#include "driver/builtin/tools/replace.h"

#include <gtest/gtest.h>

namespace errand::builtin {
namespace {

TEST(Replace, TakesOnePlaceOrAll) {
  EXPECT_EQ(replace_exactly("abc", "b", "X", false)->text, "aXc");
  EXPECT_EQ(replace_exactly("aaaa", "aa", "b", true)->text, "bb");
  EXPECT_EQ(replace_exactly("aaaa", "aa", "b", true)->count, 2);
  EXPECT_EQ(replace_exactly("x\ny\n", "x\ny\n", "", false)->text, "");
  EXPECT_EQ(replace_exactly("aab aab aac", "aac", "!", false)->first, 8u);
  // What is put in is not looked at again.
  EXPECT_EQ(replace_exactly("a", "a", "aa", true)->text, "aa");
}

TEST(Replace, SaysWhatIsWrong) {
  const auto why = [](std::string_view text, std::string_view old, std::string_view by) {
    const Result<Replaced> replaced = replace_exactly(text, old, by, false);
    return replaced ? std::string("replaced") : replaced.error().message;
  };
  EXPECT_TRUE(why("abc", "", "x").contains("is empty"));
  EXPECT_TRUE(why("abc", "b", "b").contains("the same"));
  EXPECT_TRUE(why("a b a b", "a b", "x").contains("2 times"));
  EXPECT_TRUE(why("abc", "xyz", "q").contains("not in the file"));
  EXPECT_TRUE(why("a\r\nb\r\n", "a\nb", "q").contains("CR LF"));
  EXPECT_TRUE(why("\tint x;\n", "    int x;", "q").contains("blanks and tabs"));
}

// In time that is linear in both, for texts made to be slow.
TEST(Replace, ARepeatingTextIsSearchedOnce) {
  const std::string text(4 << 20, 'a');
  const std::string old = std::string(1 << 20, 'a') + "b";
  EXPECT_FALSE(replace_exactly(text, old, "x", false));
  EXPECT_FALSE(replace_exactly(text, "a", "bb", true));
}

TEST(Replace, ShowsTheLinesAround) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  EXPECT_EQ(around(text, 8, 1), "     2\t2\n     3\t3\n     4\t4\n     5\t5\n     6\t6\n     7\t7\n     8\t8\n");
  EXPECT_EQ(around("a", 0, 1), "     1\ta\n");
  EXPECT_EQ(around("", 0, 0), "     1\t\n");
  EXPECT_EQ(around("a\nb", 2, 1), "     1\ta\n     2\tb\n");
}

}  // namespace
}  // namespace errand::builtin
