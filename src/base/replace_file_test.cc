#include "base/replace_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ReplaceFile, PutsTheNewBytesInThePlaceOfTheOldOnes) {
  const TestFolder folder;
  for (const Durability durability : {Durability::process, Durability::power}) {
    folder.write("file", "old and longer");
    folder.write("file.new", "of a process that was killed");
    EXPECT_EQ(replace_file(folder / "file", "new", 0600, durability), 0);
    EXPECT_EQ(content(folder / "file"), "new");
    EXPECT_FALSE(fs::exists(folder / "file.new"));
    EXPECT_EQ(fs::status(folder / "file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST(ReplaceFile, LeavesEverythingAsItWasWhereItFails) {
  const TestFolder folder;
  fs::create_directory(folder / "file");
  folder.write("file/inside", "x");
  EXPECT_NE(replace_file(folder / "file", "new", 0600, Durability::process), 0);
  EXPECT_TRUE(fs::exists(folder / "file/inside"));
  EXPECT_FALSE(fs::exists(folder / "file.new"));
  EXPECT_EQ(replace_file(folder / "missing/file", "new", 0600, Durability::process), ENOENT);
}

// A link in its place is replaced, not followed.
TEST(ReplaceFile, WritesThroughNoLink) {
  const TestFolder folder;
  folder.write("other", "untouched");
  fs::create_symlink(folder / "other", folder / "file");
  fs::create_symlink(folder / "other", folder / "file.new");
  EXPECT_EQ(replace_file(folder / "file", "new", 0600, Durability::process), 0);
  EXPECT_EQ(content(folder / "other"), "untouched");
  EXPECT_FALSE(fs::is_symlink(folder / "file"));
}

}  // namespace
}  // namespace errand
