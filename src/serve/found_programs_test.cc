#include "serve/found_programs.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"

namespace errand::serve {
namespace {

namespace fs = std::filesystem;

class FoundProgramsTest : public testing::Test {
 protected:
  std::string make(const std::string& folder, const std::string& name) const {
    fs::create_directories(folder_.path() + "/" + folder);
    const std::string path = folder_.path() + "/" + folder + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  std::string path_with(const std::vector<std::string>& environment) const {
    for (const std::string& variable : with_found_programs(environment, folder_.path()))
      if (variable.starts_with("PATH=")) return variable.substr(5);
    return "none";
  }
  std::string bin() const { return folder_.path() + "/bin"; }

  TestFolder folder_;
};

TEST_F(FoundProgramsTest, AProgramThatWasFoundOnceIsFoundFromAPoorerPath) {
  make("bin", "claude");
  EXPECT_EQ(path_with({"HOME=/", "PATH=" + bin()}), bin());
  EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere:" + bin()) << "behind what the server was given";
  EXPECT_EQ(path_with({"PATH="}), bin());
  EXPECT_EQ(path_with({}), bin());
  EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere:" + bin()) << "still known";
}

TEST_F(FoundProgramsTest, OneThatIsGoneOrElsewhereIsNotLookedForWhereItWas) {
  const std::string old = make("bin", "claude");
  path_with({"PATH=" + bin()});
  make("new", "claude");
  const std::string now = folder_.path() + "/new";
  EXPECT_EQ(path_with({"PATH=" + now}), now);
  fs::remove(old);
  EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere:" + now);
  fs::remove(now + "/claude");
  EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere");
}

TEST_F(FoundProgramsTest, WhatTheFileSaysIsLookedAtBeforeItIsBelieved) {
  const std::string file = folder_.path() + "/programs.json";
  for (const char* text : {"", "[]", "{\"claude\":7}", "{\"claude\":\"bin/claude\"}", "{\"claude\":\"/bin/sh\"}",
                           "{\"claude\":\"/etc/passwd\"}", "no JSON"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere") << text;
  }
}

TEST_F(FoundProgramsTest, NothingIsWrittenWhereNothingWasFound) {
  EXPECT_EQ(path_with({"PATH=/nowhere"}), "/nowhere");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace errand::serve
