// A task's way through memory, where somebody else has stored it meanwhile: its commit is refused, and it is decided
// again on what is stored.
#include "engine/lives.h"

#include "engine/world_test.h"

namespace errand {
namespace {

// Stores a change of the task behind the engine's back, as another server would.
void store_behind(World& world, const TaskId& id, const std::function<void(Task&)>& change) {
  Task task = world.get(id);
  Commit commit;
  commit.task_id = id;
  commit.before_version = task.version;
  change(task);
  task.version += 1;
  commit.after = std::make_shared<const Task>(std::move(task));
  commit.now = world.clock.wall();
  bool stored = false;
  std::vector<Commit> group;
  group.push_back(std::move(commit));
  world.store->commit(std::move(group),
                      [&](const std::vector<Result<Committed>>& results) { stored = results.front().has_value(); });
  world.settle();
  ASSERT_TRUE(stored);
}

TEST(Lives, ACommitThatIsRefusedForItsVersionIsDecidedAgainOnWhatIsStored) {
  World world;
  const Task task = world.launch("long 30");
  world.advance(100);
  store_behind(world, task.id, [](Task& stored) { stored.title = "named by somebody else"; });
  const auto cancelled =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); });
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  EXPECT_EQ(cancelled->task.state, TaskState::cancelled);
  EXPECT_EQ(cancelled->task.title, "named by somebody else") << "nothing of what was stored is lost";
  EXPECT_TRUE(world.run_until([&] { return !world.get(task.id).stopping; }));
}

TEST(Lives, WhatTurnsReportIsDecidedAgainToo) {
  World world;
  const Task task = world.launch("long 2");
  world.advance(100);
  store_behind(world, task.id, [](Task& stored) { stored.title = "another"; });
  EXPECT_TRUE(world.run_to_rest(task.id));
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(world.get(task.id).title, "another");
}

TEST(Lives, WhatIsNoLongerAllowedIsRefusedToWhoeverAsked) {
  World world;
  const Task task = world.launch("noop");
  EXPECT_TRUE(world.run_to_rest(task.id));
  // It is in memory with a message under way, and somebody else removes it.
  const Task stored = world.get(task.id);
  Commit commit;
  commit.task_id = task.id;
  commit.before_version = stored.version;
  commit.remove = Gone::deleted;
  commit.now = world.clock.wall();
  std::optional<Result<TaskView>> retried;
  world.engine->tasks().cancel(task.id, "user", [&](Result<TaskView> view) { retried.emplace(std::move(view)); });
  std::vector<Commit> group;
  group.push_back(std::move(commit));
  world.store->commit(std::move(group), [](const std::vector<Result<Committed>>&) {});
  world.settle();
  ASSERT_TRUE(retried);
  EXPECT_FALSE(*retried);
}

TEST(Lives, ATurnThatSomebodyElseHasEndedIsStopped) {
  World world;
  const Task task = world.launch("long 30");
  world.advance(100);
  EXPECT_EQ(world.engine->administration().health().running, 1);
  store_behind(world, task.id, [](Task& stored) {
    Result<Step> cancelled = decide(stored, input::Cancel{"user"}, stored.updated_at);
    ASSERT_TRUE(cancelled);
    Result<Step> ended = decide(
        cancelled->after,
        input::TurnEnded{.run = stored.run, .outcome = input::TurnEnded::Outcome::stopped, .result = {}, .error = {}},
        stored.updated_at);
    ASSERT_TRUE(ended);
    stored = ended->after;
  });
  EXPECT_EQ(world.get(task.id).state, TaskState::cancelled);
  // The next thing that the turn reports finds that out.
  EXPECT_TRUE(world.run_until([&] { return world.engine->administration().health().running == 0; }));
  EXPECT_EQ(world.get(task.id).state, TaskState::cancelled);
  EXPECT_FALSE(world.get(task.id).stopping);
}

}  // namespace
}  // namespace errand
