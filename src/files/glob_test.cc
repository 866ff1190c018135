#include "files/glob.h"

#include <chrono>

#include <gtest/gtest.h>

namespace errand::files {
namespace {

bool matches(std::string_view pattern, std::string_view path) {
  const Result<Glob> glob = Glob::parse(pattern);
  EXPECT_TRUE(glob) << pattern;
  return glob && glob->matches(path);
}

TEST(Glob, NamesOneFile) {
  EXPECT_TRUE(matches("a/b.txt", "a/b.txt"));
  EXPECT_TRUE(matches("./a//b.txt", "a/b.txt"));
  EXPECT_FALSE(matches("a/b.txt", "a/b.txtx"));
  EXPECT_FALSE(matches("a", "a/b"));
}

TEST(Glob, StarsStayWithinAName) {
  EXPECT_TRUE(matches("*.log", "x.log"));
  EXPECT_FALSE(matches("*.log", "a/x.log"));
  EXPECT_TRUE(matches("a*b*c", "aXXbYYc"));
  EXPECT_FALSE(matches("a*b*c", "aXXcYYb"));
  EXPECT_TRUE(matches("???", "abc"));
  EXPECT_FALSE(matches("???", "ab"));
  EXPECT_TRUE(matches("*", "x"));
}

TEST(Glob, TwoStarsAreAnyFolders) {
  EXPECT_TRUE(matches("dist/**/*.js", "dist/a.js"));
  EXPECT_TRUE(matches("dist/**/*.js", "dist/x/y/a.js"));
  EXPECT_FALSE(matches("dist/**/*.js", "other/a.js"));
  EXPECT_TRUE(matches("**", "a/b/c"));
  EXPECT_TRUE(matches("**/c", "c"));
  EXPECT_TRUE(matches("a/**", "a/b/c"));
  EXPECT_TRUE(matches("a/", "a/b/c"));  // A folder: all below.
  EXPECT_TRUE(matches("**/**/x", "x"));
}

TEST(Glob, SetsAreOneCharacter) {
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_FALSE(matches("[a-c]x", "dx"));
  EXPECT_TRUE(matches("[!a-c]x", "dx"));
  EXPECT_TRUE(matches("[]]x", "]x"));
  EXPECT_TRUE(matches("[x", "[x"));  // No set.
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
}

TEST(Glob, NamesWithADotAreMeantOnlyByName) {
  EXPECT_FALSE(matches("*", ".git"));
  EXPECT_FALSE(matches("**/config", ".git/config"));
  EXPECT_TRUE(matches(".git/*", ".git/config"));
  EXPECT_TRUE(matches(".*", ".env"));
}

TEST(Glob, BytesAreBytes) { EXPECT_TRUE(matches("*\xff*", "a\xff\xfe")); }

TEST(Glob, RefusesWhatLeadsElsewhere) {
  for (const char* pattern : {"", "/", "/etc/*", "../x", "a/../../b"}) EXPECT_FALSE(Glob::parse(pattern)) << pattern;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a/";
  EXPECT_FALSE(Glob::parse(deep + "x"));
}

TEST(Glob, KnowsWhereNothingCanMatch) {
  const Glob glob = *Glob::parse("dist/*.js");
  EXPECT_TRUE(glob.hopeful(glob.step(glob.start(), "dist")));
  EXPECT_FALSE(glob.hopeful(glob.step(glob.start(), "node_modules")));
  EXPECT_FALSE(glob.hopeful(glob.step(glob.step(glob.start(), "dist"), "x.js")));
}

TEST(Glob, AHostilePatternTakesNoLonger) {
  std::string pattern, name(255, 'a');
  for (int i = 0; i < 120; ++i) pattern += "*a";
  pattern += "b";
  std::string nested;
  for (int i = 0; i < 29; ++i) nested += "**/a*/";
  nested += "b";
  std::string path;
  for (int i = 0; i < 60; ++i) path += "aaa/";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(matches(pattern, name));
  EXPECT_FALSE(matches(nested, path + "c"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Glob, WithAnyDotsHiddenNamesAreNamesLikeOthers) {
  const Glob glob = *Glob::parse("**/*.o", Dots::any);
  EXPECT_TRUE(glob.matches(".cache/.x.o"));
  EXPECT_FALSE(Glob::parse("**/*.o")->matches(".cache/.x.o"));
}

}  // namespace
}  // namespace errand::files
