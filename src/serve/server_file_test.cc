#include "serve/server_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::serve {
namespace {

namespace fs = std::filesystem;

class ServerFileTest : public testing::Test {
 protected:
  bool is_there(const char* name) const { return fs::exists(folder_.path() + "/" + name); }

  TestFolder folder_;
  ServerFile file_{folder_.path()};
};

TEST_F(ServerFileTest, IsInItsPlaceOnlyWhenTheServerIsReady) {
  ASSERT_TRUE(file_.prepare(about_server("http://127.0.0.1:1", "/etc/errand.toml")));
  EXPECT_FALSE(is_there("server.json"));
  ASSERT_TRUE(file_.publish());
  EXPECT_TRUE(is_there("server.json"));
  EXPECT_FALSE(is_there("server.json.tmp"));
  file_.remove();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ServerFileTest, LeavesNothingWhereTheStartFails) {
  ASSERT_TRUE(file_.prepare("{}"));
  file_.remove();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ServerFileTest, ReplacesThatOfAServerThatWasKilled) {
  folder_.write("server.json", "old");
  folder_.write("server.json.tmp", "older");
  ASSERT_TRUE(file_.prepare("new"));
  ASSERT_TRUE(file_.publish());
  EXPECT_EQ(fs::file_size(folder_.path() + "/server.json"), 3u);
}

TEST_F(ServerFileTest, RefusesAFolderInItsPlaceBeforeItIsNeeded) {
  fs::create_directory(folder_.path() + "/server.json");
  const Status prepared = file_.prepare("{}");
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("is a folder"), std::string::npos);
  file_.remove();
  EXPECT_TRUE(is_there("server.json")) << "what is not ours stays";
}

}  // namespace
}  // namespace errand::serve
