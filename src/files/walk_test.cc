#include "files/walk.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"
#include "files/media_type.h"

namespace errand::files {
namespace {

namespace fs = std::filesystem;

SystemClock clock_of_tests;

std::vector<std::string> paths(const Walked& walked) {
  std::vector<std::string> all;
  for (const Found& found : walked.files) all.push_back(found.path);
  return all;
}

Walked walked(const TestFolder& folder, const std::vector<std::string>& patterns = {}, const WalkLimits& limits = {}) {
  std::vector<Glob> globs;
  for (const std::string& pattern : patterns) globs.push_back(*Glob::parse(pattern));
  return walk(*Root::open(folder.path()), globs, limits, clock_of_tests);
}

using Names = std::vector<std::string>;

TEST(Walk, FindsEveryFileBelow) {
  TestFolder folder;
  folder.write("b", "22");
  folder.write("a/x", "");
  folder.write(".hidden", "");
  fs::create_directories(folder / "empty");
  const Walked all = walked(folder);
  EXPECT_EQ(paths(all), (Names{".hidden", "a/x", "b"}));
  EXPECT_EQ(all.files[2].size, 2);
  EXPECT_FALSE(all.stopped);
}

TEST(Walk, FindsWhatThePatternsMean) {
  TestFolder folder;
  folder.write("dist/a.js", "");
  folder.write("dist/deep/b.js", "");
  folder.write("dist/c.css", "");
  folder.write(".git/x.js", "");
  EXPECT_EQ(paths(walked(folder, {"dist/**/*.js"})), (Names{"dist/a.js", "dist/deep/b.js"}));
  EXPECT_EQ(paths(walked(folder, {"dist/*.js", "dist/*"})), (Names{"dist/a.js", "dist/c.css"}));
  EXPECT_EQ(paths(walked(folder, {"nothing/*"})), Names{});
}

TEST(Walk, FollowsNoLinkAndSaysSo) {
  TestFolder folder, outside;
  outside.write("secret", "x");
  fs::create_directory_symlink(outside.path(), folder / "out");
  fs::create_symlink(outside / "secret", folder / "link");
  fs::create_directory_symlink(folder.path(), folder / "loop");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const Walked all = walked(folder);
  EXPECT_EQ(paths(all), Names{});
  EXPECT_EQ(all.links, 4);
}

TEST(Walk, IsBounded) {
  TestFolder folder;
  for (int i = 0; i < 50; ++i) folder.write("f" + std::to_string(i), "");
  EXPECT_EQ(walked(folder, {}, {.files = 10}).files.size(), 10u);
  EXPECT_EQ(walked(folder, {}, {.files = 10}).over, 40);
  EXPECT_TRUE(walked(folder, {}, {.entries = 20}).stopped);
  EXPECT_TRUE(walked(folder, {}, {.deadline = Time{1}}).stopped);
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "d/";
  folder.write(deep + "x", "");
  EXPECT_TRUE(walked(folder).stopped);
  EXPECT_EQ(walked(folder).files.size(), 50u);
}

TEST(Walk, KnowsAnEmptyFolder) {
  TestFolder folder;
  EXPECT_TRUE(is_empty(*Root::open(folder.path())));
  folder.write("x", "");
  EXPECT_FALSE(is_empty(*Root::open(folder.path())));
}

TEST(MediaType, IsToldByTheContent) {
  EXPECT_EQ(media_type(""), "inode/x-empty");
  EXPECT_EQ(media_type("hello there\n"), "text/plain");
  EXPECT_TRUE(media_type(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6", 26)).find('/') !=
              std::string::npos);
  EXPECT_EQ(media_type(std::string("\0\1\2\3\4\5\6\7", 8)), "application/octet-stream");
}

TEST(MediaType, SurvivesAnything) {
  std::string bytes(20'000, '\0');
  uint32_t x = 12345;
  for (int round = 0; round < 200; ++round) {
    for (char& c : bytes) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
    const std::string type = media_type(std::string_view(bytes).substr(0, static_cast<size_t>(x % 20'000)));
    EXPECT_TRUE(type.contains('/')) << type;
  }
}

}  // namespace
}  // namespace errand::files
