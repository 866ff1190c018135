#include "programs/known.h"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::programs {
namespace {

std::string login(const char* agent, const std::map<std::string, std::string>& variables) {
  return login_of(*find(agent), [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(Known, ARowHasAllThatPeopleAreTold) {
  for (const Known& known : all()) {
    EXPECT_EQ(find(known.agent), &known);
    for (const char* text : {known.driver, known.program, known.name, known.description, known.install, known.log_in,
                             known.login, known.file})
      EXPECT_STRNE(text, "") << known.agent;
  }
  EXPECT_EQ(find("nobody"), nullptr);
}

TEST(Known, ALoginIsAVariableOrAFile) {
  const TestFolder home;
  EXPECT_EQ(login("claude", {}), "") << "without a home there is nothing to be seen";
  EXPECT_EQ(login("claude", {{"HOME", home.path()}}), "");
  EXPECT_EQ(login("claude", {{"HOME", home.path()}, {"ANTHROPIC_API_KEY", "k"}}), "ANTHROPIC_API_KEY is set");
  home.write(".claude/.credentials.json", "{}");
  EXPECT_EQ(login("claude", {{"HOME", home.path()}}), "with a login in " + home.path() + "/.claude");
  EXPECT_EQ(login("claude", {{"HOME", home.path()}, {"CLAUDE_CONFIG_DIR", home / "other"}}), "")
      << "the folder that it is told is the one that counts";
  home.write("share/opencode/auth.json", "{}");
  EXPECT_EQ(login("opencode", {{"HOME", home.path()}, {"XDG_DATA_HOME", home / "share"}}),
            "with a login in " + home.path() + "/share/opencode");
}

TEST(Known, AVersionIsThatOfItsPackageOrOfItsFolder) {
  const TestFolder folder;
  const std::string file = folder / "lib/node_modules/@google/gemini-cli/bundle/gemini.js";
  folder.write("lib/node_modules/@google/gemini-cli/bundle/gemini.js", "");
  folder.write("lib/node_modules/@google/gemini-cli/bundle/package.json", R"({"type":"module"})");
  folder.write("lib/package.json", R"({"version":"9.9.9"})");
  EXPECT_EQ(version_of(file), "") << "what is above all packages is none of them";
  folder.write("lib/node_modules/@google/gemini-cli/package.json", R"({"name":"x","version":"0.61.0"})");
  EXPECT_EQ(version_of(file), "0.61.0");
  std::filesystem::create_symlink(file, folder / "gemini");
  EXPECT_EQ(version_of(folder / "gemini"), "0.61.0") << "as npm puts it on PATH";
  folder.write("share/claude/versions/2.1.325", "");
  EXPECT_EQ(version_of(folder / "share/claude/versions/2.1.325"), "2.1.325");
  folder.write("installs/gemini/0.9.0-beta.1/bin/gemini", "");
  EXPECT_EQ(version_of(folder / "installs/gemini/0.9.0-beta.1/bin/gemini"), "0.9.0-beta.1");
}

TEST(Known, WhatIsNoVersionIsNotShown) {
  const TestFolder folder;
  EXPECT_EQ(version_of(folder / "absent"), "");
  folder.write("project/package.json", R"({"version":"1.2.3"})");
  folder.write("project/bin/claude", "#!/bin/sh\n");
  EXPECT_EQ(version_of(folder / "project/bin/claude"), "") << "somebody's own script, in a package that is not it";
  folder.write("node_modules/a/package.json", R"({"version":"<script>"})");
  folder.write("node_modules/a/a", "");
  EXPECT_EQ(version_of(folder / "node_modules/a/a"), "");
  folder.write("node_modules/b/package.json", "{");
  folder.write("node_modules/b/b", "");
  EXPECT_EQ(version_of(folder / "node_modules/b/b"), "");
}

}  // namespace
}  // namespace errand::programs
