#include "cli/ring.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

RingStyle style_in(const std::map<std::string, std::string>& environment) {
  return ring_style([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(RingStyle, IsTheOneThatTheTerminalKnows) {
  EXPECT_EQ(style_in({{"TERM", "xterm-256color"}}).ring, Ring::bell);
  EXPECT_EQ(style_in({{"TERM", "xterm-256color"}, {"VTE_VERSION", "7000"}}).ring, Ring::osc777);
  EXPECT_EQ(style_in({{"TERM", "foot-extra"}}).ring, Ring::osc777);
  EXPECT_EQ(style_in({{"TERM", "xterm-256color"}, {"TERM_PROGRAM", "iTerm.app"}}).ring, Ring::osc9);
  EXPECT_EQ(style_in({{"TERM", "xterm-kitty"}}).ring, Ring::osc99);
  const RingStyle inside = style_in({{"TERM", "tmux-256color"}, {"TMUX", "/tmp/x,1,0"}});
  EXPECT_TRUE(inside.tmux);
  EXPECT_EQ(inside.ring, Ring::osc777);
}

TEST(RingStyle, IsNoneWhereNobodyWantsIt) {
  EXPECT_EQ(style_in({}).ring, Ring::none);
  EXPECT_EQ(style_in({{"TERM", "dumb"}}).ring, Ring::none);
  EXPECT_EQ(style_in({{"TERM", "xterm-kitty"}, {"ERRAND_NOTIFY", "off"}}).ring, Ring::none);
  EXPECT_EQ(style_in({{"TERM", "xterm-kitty"}, {"ERRAND_NOTIFY", "bell"}}).ring, Ring::bell);
}

TEST(RingBytes, AreTheSequenceOfEachTerminal) {
  EXPECT_EQ(ring_bytes({.ring = Ring::none}, "Failed", "x"), "");
  EXPECT_EQ(ring_bytes({.ring = Ring::bell}, "Failed", "x"), "\a");
  EXPECT_EQ(ring_bytes({.ring = Ring::osc777}, "Failed", "the build"), "\x1b]777;notify;Failed;the build\a");
  EXPECT_EQ(ring_bytes({.ring = Ring::osc9}, "Failed", "the build"), "\x1b]9;errand: Failed: the build\a");
  EXPECT_EQ(ring_bytes({.ring = Ring::osc99}, "Failed", "x"),
            "\x1b]99;i=errand:d=0;Failed\x1b\\\x1b]99;i=errand:d=1:p=body;x\x1b\\");
  EXPECT_EQ(ring_bytes({.ring = Ring::osc777, .tmux = true}, "Failed", "x"),
            "\x1bPtmux;\x1b\x1b]777;notify;Failed;x\a\x1b\\\a");
}

TEST(RingBytes, HaveNoSequenceOfATitles) {
  const std::string evil = "a\a\x1b]0;owned\a\x1b\\\x1bPtmux;\x1b[2J\u009b31m;b\n\u202ec" + std::string(1'000, 'x');
  for (const bool tmux : {false, true})
    for (const Ring ring : {Ring::osc777, Ring::osc9, Ring::osc99}) {
      const std::string harmless = ring_bytes({.ring = ring, .tmux = tmux}, "T", "b");
      const std::string hostile = ring_bytes({.ring = ring, .tmux = tmux}, evil, evil);
      const auto controls = [](const std::string& bytes) {
        std::string found;
        for (const char c : bytes)
          if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) found += c;
        return found;
      };
      EXPECT_EQ(controls(hostile), controls(harmless));
      EXPECT_EQ(std::ranges::count(hostile, ';'), std::ranges::count(harmless, ';'));
      EXPECT_EQ(hostile.find("\u009b"), std::string::npos);
      EXPECT_LT(hostile.size(), 1'200u);
    }
}

TEST(NewsOf, AreQuestionsAndEndsOfTasksThatReportToNobody) {
  TaskInfo task;
  task.id = "task_1";
  task.status = "running";
  EXPECT_EQ(news_of(task), "");
  task.waiting_for = WaitingInfo{.kind = "quota", .request_id = {}};
  EXPECT_EQ(news_of(task), "");
  task.waiting_for = WaitingInfo{.kind = "permission", .request_id = "req_1"};
  EXPECT_EQ(news_of(task), "Needs your permission");
  EXPECT_TRUE(needs_person(task));
  task.waiting_for.reset();
  task.status = "failed";
  task.stopping = true;
  EXPECT_EQ(news_of(task), "");
  EXPECT_FALSE(needs_person(task));
  task.stopping = false;
  EXPECT_EQ(news_of(task), "Failed");
  EXPECT_TRUE(needs_person(task));
  task.parent_session_id = "ses_1";
  EXPECT_EQ(news_of(task), "");
  task.parent_session_id.clear();
  task.status = "completed";
  EXPECT_EQ(news_of(task), "Completed");
  EXPECT_FALSE(needs_person(task));
}

TEST(ToldNews, AreToldOnce) {
  ToldNews told;
  TaskInfo task;
  task.id = "task_1";
  task.status = "running";
  EXPECT_FALSE(told.is_new(task));
  task.waiting_for = WaitingInfo{.kind = "answer", .request_id = "req_1"};
  EXPECT_TRUE(told.is_new(task));
  EXPECT_FALSE(told.is_new(task)) << "the same question";
  task.waiting_for->request_id = "req_2";
  EXPECT_TRUE(told.is_new(task));
  task.waiting_for.reset();
  EXPECT_FALSE(told.is_new(task));
  task.status = "failed";
  EXPECT_TRUE(told.is_new(task));
  EXPECT_FALSE(told.is_new(task));
  task.status = "pending";
  task.attempt = 2;
  EXPECT_FALSE(told.is_new(task));
  task.status = "failed";
  EXPECT_TRUE(told.is_new(task)) << "it failed again";
  for (int i = 0; i < 5'000; ++i) {
    TaskInfo other = task;
    other.id = "task_2" + std::to_string(100'000 + i);
    EXPECT_TRUE(told.is_new(other));
  }
}

}  // namespace
}  // namespace errand::cli
