#include "driver/builtin/tools/ignore.h"

#include <gtest/gtest.h>

namespace errand::builtin {
namespace {

using Verdict = IgnoreFile::Verdict;

TEST(Ignore, FollowsGitsRules) {
  const IgnoreFile file = IgnoreFile::parse(
      "# comment\n\n*.o\n!keep.o\n/top\nbuild/\ndocs/*.pdf\n**/cache\nlogs/**\na/**/z\n\\#odd\nblank \r\n");
  const auto ignored = [&](std::string_view path, bool folder = false) {
    return file.judge(path, folder) == Verdict::ignore;
  };
  EXPECT_TRUE(ignored("a.o"));
  EXPECT_TRUE(ignored("deep/in/.hidden.o"));
  EXPECT_EQ(file.judge("deep/keep.o", false), Verdict::keep);
  EXPECT_TRUE(ignored("top"));
  EXPECT_FALSE(ignored("sub/top"));
  EXPECT_TRUE(ignored("build", true));
  EXPECT_TRUE(ignored("sub/build", true));
  EXPECT_FALSE(ignored("build"));
  EXPECT_TRUE(ignored("docs/a.pdf"));
  EXPECT_FALSE(ignored("docs/sub/a.pdf"));
  EXPECT_TRUE(ignored("x/cache", true));
  EXPECT_TRUE(ignored("logs/a/b"));
  EXPECT_TRUE(ignored("a/z"));
  EXPECT_TRUE(ignored("a/b/c/z"));
  EXPECT_TRUE(ignored("#odd"));
  EXPECT_TRUE(ignored("blank"));
  EXPECT_EQ(file.judge("main.c", false), Verdict::nothing);
}

TEST(Ignore, IsBoundedForAnyText) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "a*a*a*a*a*b\n";
  const IgnoreFile file = IgnoreFile::parse(many);
  EXPECT_EQ(file.judge(std::string(250, 'a'), false), Verdict::nothing);
  EXPECT_TRUE(IgnoreFile::parse("\n\n# x\n../up\n").empty());
}

}  // namespace
}  // namespace errand::builtin
