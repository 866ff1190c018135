#include "base/line_diff.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

std::string numbers(int count, int changed = -1, int also = -1) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + (i == changed || i == also ? " new" : "") + "\n";
  return text;
}

TEST(LineDiff, ShowsWhatChangesWithLinesAround) {
  EXPECT_EQ(line_diff("a", "one\ntwo\nthree\n", "one\n2\nthree\n", 1000),
            "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
  EXPECT_EQ(line_diff("a", numbers(20), numbers(20, 10), 1000),
            "--- a\n+++ a\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+10 new\n 11\n 12\n 13\n");
}

TEST(LineDiff, FarChangesAreHunksOfTheirOwn) {
  EXPECT_EQ(line_diff("a", numbers(30), numbers(30, 5, 20), 1000),
            "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+5 new\n 6\n 7\n 8\n"
            "@@ -17,7 +17,7 @@\n 17\n 18\n 19\n-20\n+20 new\n 21\n 22\n 23\n");
}

TEST(LineDiff, NewEmptyAndEqualTexts) {
  EXPECT_EQ(line_diff("a", "", "x\ny\n", 1000), "--- a\n+++ a\n@@ -1,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(line_diff("a", "x", "", 1000), "--- a\n+++ a\n@@ -1,1 +1,0 @@\n-x\n");
  EXPECT_EQ(line_diff("a", "x\n", "x\n", 1000), "");
  EXPECT_EQ(line_diff("a", "", "", 1000), "");
}

TEST(LineDiff, IsBounded) {
  std::string before, after;
  for (int i = 0; i < 100'000; ++i) {
    before += "before " + std::to_string(i) + "\n";
    after += "äfter " + std::to_string(i) + "\n";
  }
  const std::string diff = line_diff("a", before, after, 10'000);
  EXPECT_LE(diff.size(), 10'000u);
  EXPECT_TRUE(diff.ends_with("the rest is not shown\n"));
}

}  // namespace
}  // namespace errand
