#include "cli/forge.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

TEST(ForgeAddress, IsReadInTheFormsThatGitTakes) {
  const Forge ours{"github.com", "ada/engine"};
  for (const char* url : {"https://github.com/ada/engine.git", "https://github.com/ada/engine",
                          "git@github.com:ada/engine", "https://token:x@github.com/ada/engine/",
                          "ssh://git@github.com:22/ada/engine.git", "http://github.com:8080/ada/engine"})
    EXPECT_EQ(parse_remote(url), ours) << url;
  EXPECT_EQ(parse_remote("git@gitlab.example.org:a/b/c.git"), (Forge{"gitlab.example.org", "a/b/c"}));
}

TEST(ForgeAddress, IsNothingForFoldersAndTricks) {
  for (const char* url :
       {"/srv/git/x.git", "../x.git", "file:///srv/x/y.git", "ext::sh -c touch% x/y", "./a:b/c",
        "git@-oProxyCommand=x:a/b", "https://github.com", "https://github.com/alone", "git@host:--x/y",
        "https://host/a b/c", "https://host/a/$(touch x)", "", ":", "@:a/b", "ssh://@/a/b"})
    EXPECT_EQ(parse_remote(url), std::nullopt) << url;
}

TEST(ForgeCommand, NeverTakesATextForAnOption) {
  const PullRequest hostile{
      .branch = "errand/1-x", .base = "main", .title = "--web $(touch x)", .body = "-R evil/repo"};
  const std::vector<std::string> gh = {"gh",
                                       "pr",
                                       "create",
                                       "--repo=github.com/ada/engine",
                                       "--head=errand/1-x",
                                       "--base=main",
                                       "--title=--web $(touch x)",
                                       "--body=-R evil/repo"};
  EXPECT_EQ(forge_command("gh", {"github.com", "ada/engine"}, hostile), gh);
  const std::vector<std::string> glab = {"glab",
                                         "mr",
                                         "create",
                                         "--yes",
                                         "--repo=https://gitlab.com/ada/engine",
                                         "--source-branch=errand/1-x",
                                         "--target-branch=main",
                                         "--title=--web $(touch x)",
                                         "--description=-R evil/repo"};
  EXPECT_EQ(forge_command("glab", {"gitlab.com", "ada/engine"}, hostile), glab);
}

TEST(ShellWords, AreQuotedWhereTheShellWouldReadThem) {
  EXPECT_EQ(shell_words({"gh", "--title=it's $(x)", ""}), "gh '--title=it'\\''s $(x)' ''");
}

}  // namespace
}  // namespace errand::cli
