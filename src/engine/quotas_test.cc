#include "engine/quotas.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

struct Held {
  Held()
      : timers(clock),
        quotas(
            clock, timers,
            [](const std::string& agent, const std::string& model) {
              return Account{.driver = "builtin", .model = model, .base_url = agent == "far" ? "http://far" : ""};
            },
            [this] { ++woken; }) {}

  Task waits(const char* id, const char* agent, Time until, const char* text = "slow down") {
    Task task;
    task.id = TaskId(id);
    task.launch.agent_id = agent;
    task.launch.model = "m";
    task.state = TaskState::running;
    task.phase = TurnPhase::working;
    task.wait = Wait{.kind = WaitKind::quota, .text = text, .until = until, .since = clock.wall()};
    return task;
  }
  std::vector<Quota> list() {
    return quotas.list([](const Account&) { return 7; });
  }

  ManualClock clock;
  TimerQueue timers;
  int woken = 0;
  Quotas quotas;
};

TEST(Quotas, R4_5_HoldTheSameAccountUntilTheTimeThatWasNamed) {
  Held held;
  EXPECT_FALSE(held.quotas.hold("near", "m"));
  held.quotas.settle(held.waits("task_a", "near", held.clock.wall() + 5'000));
  EXPECT_TRUE(held.quotas.hold("near", "m"));
  EXPECT_FALSE(held.quotas.hold("near", "other"));
  EXPECT_FALSE(held.quotas.hold("far", "m"));
  held.clock.advance(5'001);
  held.timers.run_due();
  EXPECT_EQ(held.woken, 1) << "the line goes on by itself";
  EXPECT_FALSE(held.quotas.hold("near", "m"));
}

TEST(Quotas, EndWithTheTaskThatWaits) {
  Held held;
  Task task = held.waits("task_a", "near", {});
  held.quotas.settle(task);
  task.wait.reset();
  held.quotas.settle(task);
  EXPECT_EQ(held.woken, 1);
  EXPECT_FALSE(held.quotas.hold("near", "m"));
  held.quotas.settle(held.waits("task_b", "near", {}));
  held.quotas.forget(TaskId("task_b"));
  EXPECT_FALSE(held.quotas.hold("near", "m"));
}

TEST(Quotas, AreBelievedForADay) {
  Held held;
  held.quotas.settle(held.waits("task_a", "near", held.clock.wall() + 10 * quota_wait_max_ms));
  ASSERT_EQ(held.list().size(), 1u);
  EXPECT_EQ(held.list().front().until, held.clock.wall() + quota_wait_max_ms);
}

TEST(Quotas, AreListedOldestFirstWithTheWordsOfWhoWaitsLongest) {
  Held held;
  held.quotas.settle(held.waits("task_a", "far", {}, "first"));
  held.clock.advance(10);
  held.quotas.settle(held.waits("task_b", "near", {}, "second"));
  held.quotas.settle(held.waits("task_c", "far", {}, "third"));
  const std::vector<Quota> all = held.list();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].account, "builtin/m@http://far");
  EXPECT_EQ(all[0].text, "first");
  EXPECT_EQ(all[0].waiting, 2);
  EXPECT_EQ(all[0].tasks, (std::vector{TaskId("task_a"), TaskId("task_c")}));
  EXPECT_EQ(all[0].queued, 7);
  EXPECT_EQ(all[1].account, "builtin/m");
}

TEST(Quotas, ThatAPersonLiftedHoldNobodyUntilTheyAreMetAnew) {
  Held held;
  Task task = held.waits("task_a", "near", {});
  held.quotas.settle(task);
  EXPECT_TRUE(held.quotas.lift("builtin/other").empty());
  EXPECT_EQ(held.quotas.lift("builtin/m").size(), 1u);
  EXPECT_TRUE(held.quotas.lift("").empty()) << "it is over";
  held.quotas.settle(task);
  EXPECT_FALSE(held.quotas.hold("near", "m")) << "the same wait";
  held.clock.advance(10);
  held.quotas.settle(held.waits("task_a", "near", {}));
  EXPECT_TRUE(held.quotas.hold("near", "m")) << "another one";
}

}  // namespace
}  // namespace errand
