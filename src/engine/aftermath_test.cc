// What follows from a durable commit, and in which order.
#include "engine/aftermath.h"

#include <algorithm>

#include "engine/hand_driver_test.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct After {
  HandDriver driver;
  World world;

  explicit After(EngineSettings settings = {}) : world(std::move(settings), {{"hand", &driver}}) {}
  Task launch(const std::string& prompt = "one", std::function<void(Launch&)> more = {}) {
    return world.launch(prompt, [&](Launch& launch) {
      launch.agent_id = "hand";
      if (more) more(launch);
    });
  }
  Tasks& tasks() { return world.engine->tasks(); }
};

TEST(Aftermath, EventsAreShownBeforeWhoeverAskedIsAnsweredAndTheTurnIsStoppedBehindIt) {
  After after;
  const Task task = after.launch();
  const std::shared_ptr<Feed> feed = after.world.engine->streams().feed(task.id);
  bool answered = false;
  after.tasks().cancel(task.id, "user", [&](Result<TaskView> view) {
    answered = true;
    ASSERT_TRUE(view);
    EXPECT_EQ(feed->last(false), view->task.last_seq) << "its events are there";
    EXPECT_EQ(after.driver.stops, 0) << "effects come last";
  });
  EXPECT_EQ(after.driver.stops, 0) << "nothing is stored yet";
  after.world.settle();
  EXPECT_TRUE(answered);
  EXPECT_EQ(after.driver.stops, 1);
}

TEST(Aftermath, AnEndFreesTheSlotAndWakesWhoWaits) {
  EngineSettings settings;
  settings.max_concurrent = 1;
  After after(settings);
  const Task first = after.launch("one");
  const Task second = after.launch("two");
  EXPECT_EQ(after.world.get(second.id).state, TaskState::pending);
  int woken = 0;
  after.tasks().wait({first.id}, Until::all, 60'000, [&](const Result<void>&) { ++woken; });
  after.world.settle();
  EXPECT_EQ(woken, 0);
  after.driver.sink->ended({.kind = Outcome::Kind::completed});
  after.world.settle();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(after.world.get(second.id).state, TaskState::running);
}

TEST(Aftermath, WhatWaitsForARemovedTaskIsToldThatItIsGone) {
  After after;
  const Task task = after.launch();
  const std::shared_ptr<Feed> all = after.world.engine->streams().all();
  const int64_t before = all->last(true);
  std::vector<std::string> told;
  after.tasks().wait({task.id}, Until::all, 60'000, [&](const Result<void>&) { told.emplace_back("waiter"); });
  after.tasks().result(task.id, 60'000, [&](Result<ResultView> result) { told.push_back(result.error().reason); });
  after.world.settle();
  ASSERT_TRUE(
      after.world.ask<void>([&](auto reply) { after.tasks().remove(task.id, Gone::deleted, std::move(reply)); }));
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"deleted", "waiter"}));
  EXPECT_GT(all->last(true), before) << "the feed of the whole store is behind it";
}

TEST(Aftermath, ACommitThatWasRefusedIsFollowedByNothing) {
  After after;
  const Task task = after.launch();
  const std::shared_ptr<Feed> feed = after.world.engine->streams().feed(task.id);
  const int64_t before = feed->last(false);
  after.world.commit_fault = Fault::full;
  const Result<TaskView> cancelled =
      after.world.ask<TaskView>([&](auto reply) { after.tasks().cancel(task.id, "user", std::move(reply)); });
  EXPECT_FALSE(cancelled);
  EXPECT_EQ(feed->last(false), before);
  EXPECT_EQ(after.driver.stops, 0);
  EXPECT_EQ(after.world.get(task.id).state, TaskState::running);
}

}  // namespace
}  // namespace errand
