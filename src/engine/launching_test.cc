// A launch is a row of steps: whatever each of them waits for, it is done once, and a refusal leaves nothing.
#include "engine/launching.h"

#include "engine/world_test.h"

namespace errand {
namespace {

Result<TaskView> launch(World& world, const Launch& launch, const std::string& key = {}) {
  return world.ask<TaskView>([&](auto reply) { world.engine->tasks().launch(launch, key, "same", std::move(reply)); });
}

Launch by_coder() {
  Launch launch;
  launch.agent_id = "coder";
  launch.prompt = "noop";
  return launch;
}

struct Coders : World {
  Coders() {
    Agent coder{.name = "coder", .driver = "demo", .model = "small"};
    coder.permission_rules.push_back({.tool = "bash", .pattern = "*", .decision = Permission::deny});
    EXPECT_TRUE(ask<Agent>([&](auto reply) { engine->administration().put_agent({}, coder, std::move(reply)); }));
  }
};

TEST(Launching, WhatTheAgentSaysIsFilledInOnceHoweverManyStepsWait) {
  Coders world;
  Launch asked = by_coder();
  asked.parent_session_id = SessionId("ses_parent");  // It is read.
  asked.batch_id = BatchId("batch_of_mine");          // So is its batch.
  asked.permission_rules.push_back({.tool = "edit", .pattern = "*", .decision = Permission::allow});
  const auto made = launch(world, asked, "a key");  // And its key.
  ASSERT_TRUE(made) << made.error().message;
  const Task& task = made->task;
  EXPECT_EQ(task.launch.model, "small");
  ASSERT_EQ(task.launch.permission_rules.size(), 2u);
  EXPECT_EQ(task.launch.permission_rules[0].tool, "edit") << "its own stand first";
  EXPECT_EQ(task.launch.permission_rules[1].tool, "bash");
}

TEST(Launching, WhoSendsTheSameUnderOneKeyGetsTheOneTask) {
  Coders world;
  std::vector<TaskId> made;
  int refused = 0;
  for (int i = 0; i < 3; ++i)
    world.engine->tasks().launch(by_coder(), "key", "same", [&](Result<TaskView> view) {
      ASSERT_TRUE(view);
      made.push_back(view->task.id);
    });
  world.engine->tasks().launch(by_coder(), "key", "other", [&](const Result<TaskView>& view) { refused += !view; });
  EXPECT_TRUE(made.empty()) << "answered later, never inside the call";
  world.settle();
  const auto again = launch(world, by_coder(), "key");
  ASSERT_TRUE(again);
  EXPECT_EQ(made, std::vector(3, again->task.id));
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(*world.store->count({}), 1);
}

TEST(Launching, WhatIsRefusedLeavesItsKeyFree) {
  Coders world;
  Launch wrong = by_coder();
  wrong.agent_id = "nobody";
  int refused = 0;
  for (int i = 0; i < 2; ++i)
    world.engine->tasks().launch(wrong, "key", "same", [&](const Result<TaskView>& view) {
      ASSERT_FALSE(view);
      EXPECT_EQ(view.error().reason, "unknown_agent");
      ++refused;
    });
  EXPECT_EQ(refused, 0);
  world.settle();
  EXPECT_EQ(refused, 2) << "whoever sent it";
  EXPECT_TRUE(launch(world, by_coder(), "key"));
}

TEST(Launching, ANewBatchHasAnIdOfItsOwnAndIsCounted) {
  Coders world;
  Launch asked = by_coder();
  asked.batch_id = BatchId("new");
  const auto first = launch(world, asked);
  ASSERT_TRUE(first);
  const BatchId batch = first->task.launch.batch_id;
  EXPECT_NE(batch.value, "new");
  asked.batch_id = batch;
  ASSERT_TRUE(launch(world, asked));
  const auto counts = world.ask<BatchCounts>([&](auto reply) { world.engine->batches().get(batch, std::move(reply)); });
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->total(), 2);
}

TEST(Launching, R3_5_NothingIsBornUnderASessionThatIsBeingEnded) {
  Coders world;
  Launch asked = by_coder();
  asked.parent_session_id = SessionId("ses_parent");
  ASSERT_TRUE(launch(world, asked));
  // While the batch of the second one is read, the session ends.
  asked.batch_id = BatchId("batch_of_mine");
  std::optional<Result<TaskView>> late;
  std::optional<Result<int64_t>> ended;
  world.engine->tasks().launch(asked, {}, {}, [&](Result<TaskView> view) { late.emplace(std::move(view)); });
  world.engine->sessions().end_session(asked.parent_session_id,
                                       [&](Result<int64_t> removed) { ended.emplace(std::move(removed)); });
  world.settle();
  world.advance(100);
  ASSERT_TRUE(late && ended);
  EXPECT_TRUE(*ended);
  ASSERT_FALSE(*late);
  EXPECT_EQ(late->error().reason, "session_ended");
  EXPECT_EQ(*world.store->count({}), 0);
}

}  // namespace
}  // namespace errand
