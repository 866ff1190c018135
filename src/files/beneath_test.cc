// Nothing but regular files below the folder, however the path or the folder's content tries: R12.2.
#include "files/beneath.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/test_folder.h"

namespace errand::files {
namespace {

namespace fs = std::filesystem;
using How = Root::How;

std::string text_of(const File& file) {
  std::string text(static_cast<size_t>(file.size), '\0');
  text.resize(static_cast<size_t>(std::max<int64_t>(0, read_at(file, 0, text.data(), text.size()))));
  return text;
}

// Both ways of resolving refuse the same.
class Beneath : public testing::TestWithParam<How> {
 protected:
  Beneath() {
    outside.write("secret", "not yours");
    folder.write("a", "hello");
    folder.write("deep/er/b", "below");
  }
  Result<File> open(std::string_view path) const {
    const Result<Root> root = Root::open(folder.path(), GetParam());
    if (!root) return std::unexpected(root.error());
    return root->open_file(path);
  }
  std::string reason(std::string_view path) const {
    const Result<File> file = open(path);
    return file ? "opened" : file.error().reason;
  }
  TestFolder folder, outside;
};
INSTANTIATE_TEST_SUITE_P(Both, Beneath, testing::Values(How::kernel, How::by_component),
                         [](const auto& param) { return param.param == How::kernel ? "Kernel" : "ByComponent"; });

TEST_P(Beneath, OpensWhatIsBelow) {
  ASSERT_TRUE(open("a"));
  EXPECT_EQ(text_of(*open("a")), "hello");
  EXPECT_EQ(open("a")->size, 5);
  EXPECT_GT(open("a")->modified.ms, 1'600'000'000'000);
  EXPECT_EQ(text_of(*open("deep/er/b")), "below");
  EXPECT_EQ(text_of(*open("./deep//er/./b")), "below");
}

TEST_P(Beneath, RefusesPathsThatLeadElsewhere) {
  for (const std::string path :
       {"", ".", "/", "/etc/passwd", "..", "../x", "deep/../../x", "deep/../a", "a/..", "deep/er/../../../etc/passwd"})
    EXPECT_EQ(reason(path), "bad_path") << path;
  EXPECT_EQ(reason(std::string("a\0b", 3)), "bad_path");
  EXPECT_EQ(reason(std::string(5000, 'x')), "bad_path");
  EXPECT_EQ(reason(std::string(300, 'x')), "no_file");
  EXPECT_EQ(reason("nothing"), "no_file");
  EXPECT_EQ(reason("a/b"), "no_file");
  // No names of ours: only files.
  EXPECT_EQ(reason("..."), "no_file");
  EXPECT_EQ(reason("%2e%2e"), "no_file");
}

TEST_P(Beneath, FollowsNoSymbolicLink) {
  fs::create_symlink(outside / "secret", folder / "absolute");
  fs::create_symlink("../" + fs::path(outside.path()).filename().string() + "/secret", folder / "relative");
  fs::create_directory_symlink(outside.path(), folder / "linked");
  fs::create_symlink("a", folder / "inside");
  fs::create_symlink("loop", folder / "loop");
  fs::create_symlink("/proc/self/fd/0", folder / "magic");
  for (const char* path : {"absolute", "relative", "inside", "loop", "magic"})
    EXPECT_EQ(reason(path), "symlink") << path;
  const std::string through = reason("linked/secret");
  EXPECT_TRUE(through == "symlink" || through == "no_file") << through;
}

TEST_P(Beneath, RefusesWhatIsNoFile) {
  EXPECT_EQ(reason("deep"), "not_a_file");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(reason("fifo"), "not_a_file");  // And does not wait for a writer.
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(reason("socket"), "not_a_file");
  ::close(fd);
  const Result<Root> devices = Root::open("/dev", GetParam());
  ASSERT_TRUE(devices);
  for (const char* device : {"null", "zero", "tty"}) {
    const Result<File> file = devices->open_file(device);
    EXPECT_FALSE(file) << device;
  }
}

TEST_P(Beneath, AHardLinkIsAFileLikeAnyOther) {
  fs::create_hard_link(folder / "a", folder / "also");
  EXPECT_EQ(text_of(*open("also")), "hello");
}

TEST_P(Beneath, NamesAreBytes) {
  for (const std::string name : {"new\nline", "quo\"te", "\xff\xfe", "-rf", " ", "a\\b"}) {
    folder.write(name, name);
    EXPECT_EQ(text_of(*open(name)), name);
  }
}

// Somebody swaps the name while it is opened: what is opened is the file, or nothing.
TEST_P(Beneath, ASwapIsNoWayOut) {
  fs::create_symlink(outside / "secret", folder / "link");
  fs::create_directories(folder / "swap");
  folder.write("swap/secret", "mine");
  fs::create_directory_symlink(outside.path(), folder / "swap2");
  folder.write("file", "mine");
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) {
      ::rename((folder / "file").c_str(), (folder / "kept").c_str());
      ::rename((folder / "link").c_str(), (folder / "file").c_str());
      ::rename((folder / "file").c_str(), (folder / "link").c_str());
      ::rename((folder / "kept").c_str(), (folder / "file").c_str());
      ::rename((folder / "swap").c_str(), (folder / "swap3").c_str());
      ::rename((folder / "swap2").c_str(), (folder / "swap").c_str());
      ::rename((folder / "swap").c_str(), (folder / "swap2").c_str());
      ::rename((folder / "swap3").c_str(), (folder / "swap").c_str());
    }
  });
  int opened = 0;
  for (int i = 0; i < 5'000; ++i) {
    for (const char* path : {"file", "swap/secret"}) {
      const Result<File> file = open(path);
      if (!file) continue;
      ++opened;
      EXPECT_EQ(text_of(*file), "mine");
    }
  }
  done = true;
  swapper.join();
  EXPECT_GT(opened, 0);
}

TEST_P(Beneath, AFolderThatIsALinkIsNone) {
  fs::create_directory_symlink(folder.path(), outside / "linked");
  EXPECT_FALSE(Root::open(outside / "linked", GetParam()));
  EXPECT_FALSE(Root::open(outside / "nowhere", GetParam()));
  EXPECT_FALSE(Root::open(folder / "a", GetParam()));
}

TEST_P(Beneath, WhatTheServerMayNotReadSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  fs::permissions(folder / "a", fs::perms::none);
  EXPECT_EQ(reason("a"), "unreadable");
}

}  // namespace
}  // namespace errand::files
