// R12.2: secrets are not given to commands unless named.
#include "driver/run/environment.h"

#include <gtest/gtest.h>

namespace errand::run {
namespace {

using Variables = std::vector<std::string>;

TEST(EnvironmentTest, OnlyHarmlessNamesArePassedOn) {
  const Variables server = {"PATH=/bin",
                            "HOME=/root",
                            "ANTHROPIC_API_KEY=k",
                            "GITHUB_TOKEN=t",
                            "AWS_REGION=x",
                            "LC_ALL=C.UTF-8",
                            "LC_API_KEY=k",
                            "XDG_CACHE_HOME=/c",
                            "XDG_SECRET_THING=s",
                            "DATABASE_URL=postgres://u:p@h/d",
                            "TERM=xterm-256color",
                            "broken",
                            "=x"};
  EXPECT_EQ(make_environment(server, {}, {}, {}).variables,
            (Variables{"HOME=/root", "LC_ALL=C.UTF-8", "PATH=/bin", "TERM=dumb", "XDG_CACHE_HOME=/c"}));
}

TEST(EnvironmentTest, WhatTheLaunchNamesIsPassedOnWhateverItLooksLike) {
  Launch launch;
  launch.pass_env = {"GITHUB_TOKEN", "NOT_THERE"};
  const Environment made = make_environment({"GITHUB_TOKEN=a=b", "PATH=/bin"}, {}, launch, {});
  EXPECT_EQ(made.variables, (Variables{"GITHUB_TOKEN=a=b", "PATH=/bin", "TERM=dumb"}));
  EXPECT_EQ(made.missing, Variables{"NOT_THERE"});
}

TEST(EnvironmentTest, TheLaunchWinsOverTheServerAndErrandOverBoth) {
  Launch launch;
  launch.env = {{"PATH", "/mine"}, {"ERRAND_TASK_ID", "forged"}, {"TERM", "xterm"}};
  EXPECT_EQ(make_environment({"PATH=/bin"}, {}, launch, {{"ERRAND_TASK_ID", "task_1"}}).variables,
            (Variables{"ERRAND_TASK_ID=task_1", "PATH=/mine", "TERM=xterm"}));
}

TEST(EnvironmentTest, NamesThatLookLikeSecretsAreKnown) {
  for (const char* name : {"OPENAI_API_KEY", "npm_token", "DB_PASSWORD", "CLIENT_SECRET", "AWS_CREDENTIALS", "PGPASSWD",
                           "DB_PASS", "GITHUB_PAT", "SENTRY_DSN", "DATABASE_URL"})
    EXPECT_TRUE(looks_secret(name)) << name;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CC", "HTTP_PROXY"}) EXPECT_FALSE(looks_secret(name)) << name;
}

TEST(EnvironmentTest, TheServersOwnListAllowsMoreButNoSecretsByPattern) {
  const Variables server = {"PATH=/bin", "CC=clang", "CARGO_HOME=/c", "CARGO_REGISTRY_TOKEN=t", "MY_TOKEN=m", "CXX=x"};
  EXPECT_EQ(make_environment(server, {"CC", "CARGO_*"}, {}, {}).variables,
            (Variables{"CARGO_HOME=/c", "CC=clang", "PATH=/bin", "TERM=dumb"}));
  EXPECT_EQ(make_environment(server, {"MY_TOKEN"}, {}, {}).variables,
            (Variables{"MY_TOKEN=m", "PATH=/bin", "TERM=dumb"}))
      << "named in full is meant";
}

TEST(EnvironmentTest, ThereIsAlwaysAPath) {
  EXPECT_EQ(make_environment({}, {}, {}, {}).variables, (Variables{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=dumb"}));
}

TEST(EnvironmentTest, NamesAndValuesThatNoEnvironmentCanHoldAreRefused) {
  Launch launch;
  launch.env = {{"A=B", "x"}};
  EXPECT_FALSE(check_environment(launch));
  launch.env = {{"", "x"}};
  EXPECT_FALSE(check_environment(launch));
  launch.env = {{"A", std::string("x\0y", 3)}};
  EXPECT_EQ(check_environment(launch).error().message, "The value of `env.A` has a NUL byte in it; remove it.");
  launch.env = {{"A", "x"}};
  launch.pass_env = {"B=1"};
  EXPECT_FALSE(check_environment(launch));
  launch.pass_env = {"B"};
  EXPECT_TRUE(check_environment(launch));
}

}  // namespace
}  // namespace errand::run
