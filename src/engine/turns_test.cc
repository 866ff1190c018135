// A turn is opened, spoken to and stopped after the commit that says so, and nothing of it is left behind.
#include "engine/turns.h"

#include "engine/hand_driver_test.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct TurnsOf {
  HandDriver driver;
  World world{{}, {{"hand", &driver}}};

  Task launch() {
    return world.launch("Do it.", [](Launch& launch) { launch.agent_id = "hand"; });
  }
  Result<TaskView> cancel(const TaskId& id) {
    return world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(id, "user", std::move(reply)); });
  }
};

TEST(Turns, OneIsOpenedWithWhatWaitsOnceItsStartIsDurable) {
  TurnsOf turns;
  const Task task = turns.launch();
  ASSERT_EQ(turns.driver.requests.size(), 1u);
  const TurnRequest& request = turns.driver.requests.front();
  EXPECT_EQ(request.task->run, 1);
  EXPECT_FALSE(request.reattach);
  ASSERT_EQ(request.messages.size(), 1u);
  EXPECT_EQ(text_of(request.messages.front()), "Do it.");
  EXPECT_EQ(turns.world.get(task.id).state, TaskState::running);
}

TEST(Turns, OneThatCannotBeOpenedEndsItsTaskWithTheReason) {
  TurnsOf turns;
  turns.driver.refuses = true;
  const Task task = turns.launch();
  EXPECT_EQ(turns.world.error(task.id).code, "spawn_failed");
  EXPECT_EQ(turns.world.error(task.id).message, "There is no such program.");
}

TEST(Turns, ADriverThatDoesNotAnswerAStopIsLetGoAndNothingOfItsTurnIsLeft) {
  TurnsOf turns;
  turns.driver.answers_stop = false;
  const Task task = turns.launch();
  ASSERT_TRUE(turns.cancel(task.id));
  turns.world.advance(29'000, 1'000);
  EXPECT_EQ(turns.driver.stops, 1);
  EXPECT_EQ(turns.driver.drops, 0) << "it has half a minute";
  EXPECT_TRUE(turns.world.get(task.id).stopping);
  turns.world.advance(2'000, 1'000);
  EXPECT_EQ(turns.driver.drops, 1);
  EXPECT_EQ(turns.driver.open_turns, 0);
  EXPECT_FALSE(turns.world.get(task.id).stopping);
}

TEST(Turns, WhatItSaysAfterItsEndIsNotHeard) {
  TurnsOf turns;
  const Task task = turns.launch();
  Sink& sink = *turns.driver.sink;
  sink.ended({.kind = Outcome::Kind::completed, .result = "first"});
  sink.report({report::MessageBegan{}, report::Text{0, false, "late"}}, "9");
  sink.ended({.kind = Outcome::Kind::failed, .error = TaskError{"x", "second", {}}});
  turns.world.settle();
  EXPECT_EQ(turns.world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(turns.world.get(task.id).result, "first");
  EXPECT_NE(turns.world.get(task.id).checkpoint, "9");
  turns.world.advance(10);
  EXPECT_EQ(turns.driver.open_turns, 0) << "destroyed at the next tick";
}

TEST(Turns, AMessageIsGivenToTheTurnAtWorkOnceItIsStored) {
  TurnsOf turns;
  const Task task = turns.launch();
  std::optional<MessageId> sent;
  turns.world.engine->tasks().message(task.id, {.text = "And this.", .content = {}},
                                      [&](Result<MessageTaken> taken) { sent = taken->message_id; });
  EXPECT_TRUE(turns.driver.sent.empty()) << "nothing is stored yet";
  turns.world.settle();
  ASSERT_TRUE(sent);
  EXPECT_EQ(turns.driver.sent, std::vector{*sent});
}

TEST(Turns, OfARemovedTaskTheRunIsEndedAndItsFilesGo) {
  TurnsOf turns;
  const Task task = turns.launch();
  ASSERT_TRUE(turns.world.ask<void>(
      [&](auto reply) { turns.world.engine->tasks().remove(task.id, Gone::deleted, std::move(reply)); }));
  turns.world.advance(10);
  EXPECT_EQ(turns.driver.stops, 1);
  EXPECT_TRUE(turns.driver.forgotten.contains(task.id));
  EXPECT_EQ(turns.driver.open_turns, 0);
}

TEST(Turns, AServerThatLeavesLeavesThemAtWork) {
  TurnsOf turns;
  turns.launch();
  turns.world.engine->drain([](Result<void>) {});
  turns.world.settle();
  EXPECT_EQ(turns.driver.open_turns, 0);
  EXPECT_EQ(turns.driver.stops, 0);
  EXPECT_EQ(turns.driver.drops, 0);
}

}  // namespace
}  // namespace errand
