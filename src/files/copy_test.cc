#include "files/copy.h"

#include <fcntl.h>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::files {
namespace {

namespace fs = std::filesystem;

SystemClock clock_of_tests;
const Time never{INT64_MAX};

struct Copy : testing::Test {
  TestFolder from, to;
  Fd target{::open(to.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  File file(std::string_view name) const { return *Root::open(from.path())->open_file(name); }
  std::string copied_text(const std::string& name) const {
    const File copy = *Root::open(to.path())->open_file(name);
    std::string text(static_cast<size_t>(copy.size), '\0');
    EXPECT_EQ(read_at(copy, 0, text.data(), text.size()), copy.size);
    return text;
  }
};

TEST_F(Copy, HashIsSha256) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(Copy, CopyHasTheBytesAndTheirHash) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i);
  from.write("big", text);
  const Result<Copied> copied = copy_file(file("big"), target, "1", never, clock_of_tests);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->size, std::ssize(text));
  EXPECT_EQ(copied->sha256, sha256(text));
  EXPECT_TRUE(copied_text("1") == text);
}

TEST_F(Copy, TakesTheSizeThatItHadWhenItWasOpened) {
  from.write("log", "12345");
  File open = file("log");
  from.write("log", "1234567890");
  EXPECT_EQ(copy_file(open, target, "1", never, clock_of_tests)->size, 5);
  fs::resize_file(from / "log", 2);
  const Result<Copied> shorter = copy_file(open, target, "2", never, clock_of_tests);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(copied_text("2").size(), static_cast<size_t>(shorter->size));
  EXPECT_EQ(shorter->sha256, sha256(copied_text("2")));
}

TEST_F(Copy, ReplacesAndLeavesNothingHalf) {
  from.write("a", "new");
  to.write("1", "old old old");
  ASSERT_TRUE(copy_file(file("a"), target, "1", never, clock_of_tests));
  EXPECT_EQ(copied_text("1"), "new");
  EXPECT_FALSE(copy_file(file("a"), target, "2", Time{1}, clock_of_tests));  // Past its time.
  EXPECT_FALSE(fs::exists(to / "2"));
}

TEST_F(Copy, AFileThatVanishedIsStillCopied) {
  from.write("a", "gone");
  const File open = file("a");
  fs::remove(from / "a");
  EXPECT_TRUE(copy_file(open, target, "1", never, clock_of_tests));
  EXPECT_EQ(copied_text("1"), "gone");
}

TEST_F(Copy, HashOfWhatIsNoLongerThereFails) {
  from.write("a", "12345");
  const File open = file("a");
  fs::resize_file(from / "a", 1);
  EXPECT_FALSE(sha256_of(open, 5, never, clock_of_tests));
}

}  // namespace
}  // namespace errand::files
