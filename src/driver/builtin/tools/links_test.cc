// What a command reads through a link that leads out of its folder is asked for.
#include "driver/builtin/tools/links.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "driver/builtin/tools/process_tools.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

class LinksTest : public testing::Test {
 protected:
  LinksTest() {
    fs::create_directories(work() + "/src/deep");
    fs::create_directories(folder_.path() + "/secrets");
    for (const char* file : {"/project/a.txt", "/project/src/a.cc", "/project/src/deep/b.cc", "/secrets/key"})
      std::ofstream(folder_.path() + file) << "x";
  }
  std::string work() const { return folder_.path() + "/project"; }
  void link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, work() + "/" + name);
  }
  bool reads(const std::string& command) const { return need_of_command(command, work()).reads; }

  TestFolder folder_;
};

TEST_F(LinksTest, WhatStaysBelowIsNotAskedFor) {
  link("inside", "src/a.cc");
  link("folder", "src");
  link("dangling", "nothing");
  for (const char* command :
       {"cat a.txt", "cat inside", "cat folder/a.cc", "wc -l src/*.cc", "cat folder/*.cc", "ls", "grep -rn 'x y' src",
        "cat not_there", "cat dangling", "git log --oneline -5", "head -n 5 src/*/b.cc", "cat src/nothing*"})
    EXPECT_TRUE(reads(command)) << command;
  EXPECT_TRUE(reads("grep -n '" + std::string(300, 'x') + "' a.txt")) << "no name is so long";
}

TEST_F(LinksTest, WhatLeadsOutIsAskedFor) {
  link("out", "../secrets/key");
  link("away", folder_.path() + "/secrets");
  link("src/lib.cc", "../../secrets/key");
  link("by_another", "out");
  link("loop", "loop");
  for (const char* command :
       {"cat out", "cat away/key", "ls away", "cat src/*.cc", "wc -l a.txt ./out", "cat by_another", "cat a* o*",
        "head -n 5 aw*/key", "cat a.txt | sort | comm - out", "find away -name x", "cat loop", "cat src/l[i]b.cc"})
    EXPECT_FALSE(reads(command)) << command;
  EXPECT_TRUE(reads("cat a.txt"));
  EXPECT_TRUE(reads("grep -rn x .")) << "it does not follow links that it meets";
}

TEST_F(LinksTest, AFolderThatIsALinkItselfIsWhereItLeads) {
  fs::create_directory_symlink(work(), folder_.path() + "/alias");
  EXPECT_TRUE(need_of_command("cat a.txt src/*.cc", folder_.path() + "/alias").reads);
  EXPECT_FALSE(need_of_command("cat a.txt", folder_.path() + "/nowhere").reads) << "nobody knows what is there";
}

TEST_F(LinksTest, AFolderWithoutEndIsAskedFor) {
  fs::create_directory(work() + "/many");
  for (int i = 0; i <= 20'000; ++i) fs::create_symlink("x", work() + "/many/f" + std::to_string(i));
  EXPECT_FALSE(reads("cat many/g*"));
}

}  // namespace
}  // namespace errand::builtin
