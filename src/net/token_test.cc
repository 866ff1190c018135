#include "net/token.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"

namespace errand::net {
namespace {

struct TokenFile : testing::Test {
  void write(const std::string& text, mode_t mode) const {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  std::string refusal() {
    const Result<std::string> token = load_or_make_token(folder, random);
    EXPECT_FALSE(token);
    return token ? "" : token.error().message;
  }

  SystemRandom random;
  const TestFolder own;
  const std::string folder = own.path(), path = own / "token";
};

TEST_F(TokenFile, IsMadeOnceAndReadableByItsUserAlone) {
  const ::mode_t old = ::umask(0);
  const Result<std::string> first = load_or_make_token(folder, random);
  ::umask(old);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 43u) << "32 bytes in base64url";
  struct stat file{};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);
  EXPECT_EQ(load_or_make_token(folder, random), first);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "and nothing beside it";
}

TEST_F(TokenFile, DiffersForEveryFolder) {
  const Result<std::string> first = load_or_make_token(folder, random);
  ::unlink(path.c_str());
  EXPECT_NE(load_or_make_token(folder, random), first);
}

TEST_F(TokenFile, ThatOthersCanReadIsRefused) {
  const std::string good(43, 'a');
  for (const mode_t mode : {0640u, 0604u, 0644u, 0660u, 0610u}) {
    write(good, mode);
    EXPECT_NE(refusal().find("Others may read"), std::string::npos) << mode;
  }
  write(good, 0600);
  EXPECT_TRUE(load_or_make_token(folder, random));
}

TEST_F(TokenFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  write(std::string(43, 'a'), 0600);
  ASSERT_EQ(::chown(path.c_str(), 1, 1), 0);
  EXPECT_NE(refusal().find("another user"), std::string::npos);
}

TEST_F(TokenFile, ThatIsALinkOrAFolderIsRefused) {
  std::ofstream(folder + "/other") << std::string(43, 'a');
  ::chmod((folder + "/other").c_str(), 0600);
  ASSERT_EQ(::symlink((folder + "/other").c_str(), path.c_str()), 0);
  EXPECT_NE(refusal().find("is a link"), std::string::npos);
  ::unlink(path.c_str());
  ::mkdir(path.c_str(), 0700);
  EXPECT_NE(refusal().find("not a plain file"), std::string::npos);
  ::rmdir(path.c_str());
}

TEST_F(TokenFile, WithoutATokenIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("short"), std::string(43, ' '), std::string(42, 'a') + "\n", std::string(600, 'a'),
        "two words " + std::string(43, 'a')}) {
    write(text, 0600);
    EXPECT_NE(refusal().find("does not hold a token"), std::string::npos) << text;
  }
}

TEST_F(TokenFile, ThatCannotBeMadeSaysWhy) {
  const Result<std::string> token = load_or_make_token(folder + "/missing", random);
  ASSERT_FALSE(token);
  EXPECT_NE(token.error().message.find("No such file"), std::string::npos);
}

TEST_F(TokenFile, TwoFirstStartsAtOnceAgree) {
  for (int round = 0; round < 50; ++round) {
    Result<std::string> a, b;
    std::thread other([&] {
      SystemRandom own;
      b = load_or_make_token(folder, own);
    });
    a = load_or_make_token(folder, random);
    other.join();
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a, *b);
    ::unlink(path.c_str());
  }
}

}  // namespace
}  // namespace errand::net
