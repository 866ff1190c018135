#include "files/write.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"

namespace errand::files {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  ::lstat(path.c_str(), &info);
  return info.st_mode & 07777;
}

struct WriteFile : testing::Test {
  TestFolder folder;
  Root root = *Root::open(folder.path());
  // Nothing but what the test made is left: no draft.
  size_t names() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }
};

TEST_F(WriteFile, ANewFileHasItsFoldersAndItsMode) {
  const Result<Written> written = write_file(root, "a/b/c.txt", "hello", {.new_mode = 0640, .folder_mode = 0750});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(written->created);
  EXPECT_EQ(content(folder / "a/b/c.txt"), "hello");
  EXPECT_EQ(mode_of(folder / "a/b/c.txt"), 0640u);
  EXPECT_EQ(mode_of(folder / "a/b"), 0750u);
  EXPECT_EQ(written->identity, identity(*root.open_file("a/b/c.txt")));
}

TEST_F(WriteFile, AReplacedFileKeepsItsMode) {
  folder.write("run.sh", "old");
  fs::permissions(folder / "run.sh", static_cast<fs::perms>(0751));
  const Result<Written> written = write_file(root, "run.sh", "new");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_FALSE(written->created);
  EXPECT_EQ(content(folder / "run.sh"), "new");
  EXPECT_EQ(mode_of(folder / "run.sh"), 0751u);
  EXPECT_EQ(names(), 1u);
}

TEST_F(WriteFile, AReaderOfTheOldOneReadsItToItsEnd) {
  folder.write("a", "the old text");
  const Result<File> open = root.open_file("a");
  ASSERT_TRUE(write_file(root, "a", "x"));
  char bytes[32];
  const int64_t n = read_at(*open, 0, bytes, sizeof bytes);
  EXPECT_EQ(std::string_view(bytes, static_cast<size_t>(n)), "the old text");
}

TEST_F(WriteFile, NothingIsWrittenThroughALinkOrOutside) {
  TestFolder other;
  other.write("victim", "safe");
  fs::create_symlink(other / "victim", folder / "link");
  fs::create_directory_symlink(other.path(), folder / "out");
  fs::create_directory(folder / "sub");
  for (const char* path : {"link", "out/victim", "out/new", "out/deep/new"}) {
    const Result<Written> written = write_file(root, path, "bad");
    ASSERT_FALSE(written) << path;
    EXPECT_EQ(written.error().code, Code::forbidden) << path << ": " << written.error().message;
  }
  for (const char* path : {"../x", "/etc/x", "sub/../../x", ""}) EXPECT_FALSE(write_file(root, path, "bad")) << path;
  EXPECT_FALSE(write_file(root, "sub", "bad"));
  EXPECT_FALSE(write_file(root, "link/x", "bad"));
  EXPECT_EQ(content(other / "victim"), "safe");
  EXPECT_FALSE(fs::exists(other / "new"));
  EXPECT_FALSE(fs::exists(other / "deep"));
  EXPECT_EQ(names(), 3u);
}

TEST_F(WriteFile, AFifoIsNotReplaced) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const Result<Written> written = write_file(root, "pipe", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, "not_a_file");
}

TEST_F(WriteFile, AFileThatChangedIsNotReplaced) {
  folder.write("a", "one");
  const std::string seen = identity(*root.open_file("a"));
  folder.write("a", "another");
  const Result<Written> written = write_file(root, "a", "mine", {.expected = seen});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, "changed");
  EXPECT_EQ(content(folder / "a"), "another");
  EXPECT_EQ(names(), 1u);
  fs::remove(folder / "a");
  EXPECT_EQ(write_file(root, "a", "mine", {.expected = seen}).error().reason, "changed");
  EXPECT_EQ(names(), 0u);
}

TEST_F(WriteFile, AReadOnlyFileStays) {
  folder.write("a", "kept");
  fs::permissions(folder / "a", static_cast<fs::perms>(0444));
  const Result<Written> written = write_file(root, "a", "x");
  if (::geteuid() == 0) {
    EXPECT_TRUE(written);  // Root may.
    return;
  }
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, "unwritable");
  EXPECT_EQ(content(folder / "a"), "kept");
}

}  // namespace
}  // namespace errand::files
