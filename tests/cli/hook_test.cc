// The hook of Claude Code against a server that gives notices and does not let them be taken, as to a token that may
// only read.
#include <atomic>
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cli/context.h"
#include "cli/verbs.h"
#include "tests/cli/fake_server.h"

namespace errand::cli {
namespace {

// What it prints for `input`.
std::string printed(const FakeServer& server, const std::string& input) {
  int pipe[2];
  if (::pipe(pipe) != 0) return "no pipe";
  const int before = ::dup(STDIN_FILENO);
  ::dup2(pipe[0], STDIN_FILENO);
  ::close(pipe[0]);
  EXPECT_EQ(::write(pipe[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(pipe[1]);
  Context context({.data_dir = "/nowhere", .url = server.url(), .token_file = {}, .screen = {}}, {});
  testing::internal::CaptureStdout();
  EXPECT_EQ(hook(context, {}), 0);
  std::string out = testing::internal::GetCapturedStdout();
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  return out;
}

std::string stop(bool again) {
  return std::string(R"({"session_id":"ses_1","hook_event_name":"Stop","stop_hook_active":)") +
         (again ? "true}" : "false}");
}

struct Hook : testing::Test {
  void SetUp() override { ::setenv("ERRAND_TOKEN", "secret", 1); }
  void TearDown() override { ::unsetenv("ERRAND_TOKEN"); }

  std::atomic<int> take_status = 200;  // The server has a thread of its own.
  FakeServer server{[this](const Asked& asked, size_t) {
    if (asked.method == "POST") return Answer{reply(take_status, "{}")};
    return Answer{reply(200, R"({"notices":[{"id":"n1","text":"It has ended."}]})")};
  }};
};

TEST_F(Hook, WhatCannotBeTakenDoesNotKeepClaudeGoingForEver) {
  take_status = 403;
  EXPECT_TRUE(printed(server, stop(false)).contains("It has ended."));
  EXPECT_EQ(printed(server, stop(true)), "");
}

TEST_F(Hook, WhatComesWhileItGoesOnIsToldAndTaken) {
  EXPECT_TRUE(printed(server, stop(true)).contains("It has ended."));
  ASSERT_EQ(server.asked().size(), 2u);
  EXPECT_EQ(server.asked()[1].path, "/api/sessions/ses_1/notices/n1/taken");
}

}  // namespace
}  // namespace errand::cli
