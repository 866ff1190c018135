// After a start: what was at work is taken up or settled, what waited waits, and what has no task is ended.
#include "engine/recovery.h"

#include "engine/hand_driver_test.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct Restarted {
  HandDriver driver;
  EngineSettings one_slot = [] {
    EngineSettings settings;
    settings.max_concurrent = 1;
    return settings;
  }();
  World world{one_slot, {{"hand", &driver}}};

  Task launch(const std::string& prompt) {
    return world.launch(prompt, [](Launch& launch) { launch.agent_id = "hand"; });
  }
};

TEST(Recovery, ATurnThatWasAtWorkIsTakenUpAtItsMarkInItsOwnSlot) {
  Restarted after;
  const Task working = after.launch("one");
  const Task waiting = after.launch("two");
  after.driver.sink->report({report::MessageBegan{}, report::Text{0, false, "half"}}, "mark");
  after.world.advance(2'000, 1'000);
  after.world.crash();
  ASSERT_EQ(after.driver.requests.size(), 2u);
  EXPECT_TRUE(after.driver.requests.back().reattach);
  EXPECT_EQ(after.driver.requests.back().task->id, working.id);
  EXPECT_EQ(after.driver.requests.back().task->checkpoint, "mark");
  EXPECT_EQ(after.world.get(waiting.id).state, TaskState::pending) << "the slot is taken";
  after.driver.sink->ended({.kind = Outcome::Kind::completed, .result = "whole"});
  after.world.settle();
  EXPECT_EQ(after.world.get(working.id).result, "whole");
  EXPECT_EQ(after.world.get(waiting.id).state, TaskState::running) << "and the line goes on";
}

TEST(Recovery, OneWhoseAgentCannotGoOnIsInterrupted) {
  Restarted after;
  after.driver.can.reattach = false;
  const Task task = after.launch("one");
  after.world.crash();
  EXPECT_EQ(after.driver.requests.size(), 1u);
  EXPECT_EQ(after.world.error(task.id).code, "interrupted");
}

TEST(Recovery, RunsWithoutATaskAreEndedAndOthersAreNot) {
  Restarted after;
  const Task working = after.launch("one");
  const Task cancelled = after.launch("two");
  ASSERT_TRUE(after.world.ask<TaskView>(
      [&](auto reply) { after.world.engine->tasks().cancel(cancelled.id, "user", std::move(reply)); }));
  const TaskId unknown("task_unknown");
  after.driver.known = {{working.id, 1, true}, {cancelled.id, 1, true}, {cancelled.id, 2, false}, {unknown, 1, true}};
  after.world.crash();
  EXPECT_EQ(after.driver.ended_runs, (std::set<std::pair<TaskId, int>>{{cancelled.id, 1}}));
  EXPECT_EQ(after.driver.forgotten, std::set{unknown});
}

TEST(Recovery, WhereTheStoreCannotBeReadNothingIsTakenUpAndTheStartFails) {
  Restarted after;
  after.launch("one");
  after.world.engine.reset();
  after.world.read_fault = [] { return Error{Code::internal, "The disk answers nothing.", "io"}; };
  after.world.engine = make_engine({.store = *after.world.store,
                                    .loop = after.world.loop,
                                    .readers = after.world.readers,
                                    .clock = after.world.clock,
                                    .random = after.world.random,
                                    .drivers = {{"hand", &after.driver}},
                                    .agents = {{.id = "hand", .name = "hand", .driver = "hand"}}},
                                   after.one_slot);
  const Result<void> started =
      after.world.ask<void>([&](auto reply) { after.world.engine->recover(std::move(reply)); });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "The disk answers nothing.");
  EXPECT_EQ(after.driver.requests.size(), 1u);
}

}  // namespace
}  // namespace errand
