#include "base/text.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(Text, CutsBetweenCharactersOnly) {
  const std::string_view text = "a任务";
  EXPECT_EQ(utf8_prefix(text, 2), 1U);
  EXPECT_EQ(utf8_prefix(text, 4), 4U);
  EXPECT_EQ(utf8_suffix(text, 4), 3U);
  EXPECT_EQ(first_characters(text, 2), "a任");
  EXPECT_EQ(count_characters(text), 3U);
}

TEST(Text, MendsInvalidUtf8) {
  EXPECT_EQ(to_utf8("a\xc0\xaf"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(is_utf8("𝄞"));
  EXPECT_FALSE(is_utf8("\xf5\x80\x80\x80"));
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(trim(" \n x y\t"), "x y");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(first_line("one\ntwo"), "one");
}

TEST(Text, LooksForAPartAlsoInNothing) {
  EXPECT_TRUE(contains_text("one two", "e t"));
  EXPECT_FALSE(contains_text("one two", "et"));
  EXPECT_FALSE(contains_text({}, "a"));
  EXPECT_TRUE(contains_text({}, {}));
  EXPECT_TRUE(contains_text("a", {}));
}

TEST(Text, ComparesSecrets) {
  EXPECT_TRUE(equal_secret("abc", "abc"));
  EXPECT_FALSE(equal_secret("abc", "abd"));
  EXPECT_FALSE(equal_secret("abc", "abcd"));
}

}  // namespace
}  // namespace errand
