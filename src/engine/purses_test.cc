#include "engine/purses.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

const Time noon{1'000'000};

Task working(const char* id, Budget budget, std::vector<TaskId> payers = {}) {
  Task task;
  task.id = TaskId(id);
  task.launch.budget = budget;
  task.launch.payers = std::move(payers);
  task.state = TaskState::running;
  task.phase = TurnPhase::working;
  return task;
}

Purse purse_of(const Task& payer) { return {.payer = payer.id, .limit = payer.launch.budget, .began = noon}; }

TEST(Purses, R4_4_AMemberIsEndedForWhatItUsesAndNotForWhatItHears) {
  Task parent = working("task_parent", {.tokens = 10});
  Task child = working("task_child", {}, {parent.id});
  Purses purses;
  EXPECT_EQ(purses.join(parent), std::vector<TaskId>{parent.id}) << "it is to be read";
  purses.open(parent, {purse_of(parent)}, noon);
  EXPECT_TRUE(purses.join(child).empty()) << "it is known";
  parent.progress.usage.input_tokens = 6;
  EXPECT_FALSE(purses.spend(parent, false));
  child.progress.usage.output_tokens = 5;
  const std::optional<TaskError> over = purses.spend(child, false);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->code, "budget");
  EXPECT_FALSE(purses.spend(parent, false)) << "the parent has used nothing more";
  EXPECT_TRUE(purses.spend(parent, true)) << "but could not begin";
  EXPECT_TRUE(purses.over({parent.id}));
}

TEST(Purses, WhatWasCountedMeanwhileIsNotCountedTwice) {
  Task task = working("task_a", {.tokens = 10});
  Purses purses;
  purses.open(task, {purse_of(task)}, noon);
  task.progress.usage.input_tokens = 8;
  EXPECT_FALSE(purses.spend(task, false));
  Purse read = purse_of(task);  // Of a moment ago.
  read.raise(task.id, {.tokens = 7});
  purses.open(task, {read}, noon);
  EXPECT_FALSE(purses.over({task.id})) << "8 of 10, not 15";
}

TEST(Purses, AreForgottenWhenNobodyOfThemWorks) {
  Task parent = working("task_parent", {.turns = 1});
  Task child = working("task_child", {}, {parent.id});
  Purses purses;
  purses.open(parent, {purse_of(parent)}, noon);
  purses.join(child);
  parent.state = TaskState::completed;
  purses.spend(parent, false);
  EXPECT_EQ(purses.size(), 1u) << "the child works";
  child.state = TaskState::cancelled;
  purses.spend(child, false);
  EXPECT_EQ(purses.size(), 0u);
  EXPECT_FALSE(purses.spend(child, true)) << "nobody knows that purse";
}

TEST(Purses, TheShortestWallTimeCounts) {
  const Task parent = working("task_parent", {.wall_ms = 60'000});
  const Task child = working("task_child", {.wall_ms = 10'000}, {parent.id});
  Purses purses;
  EXPECT_FALSE(purses.wall_time(child, noon));
  Purse resumed = purse_of(child);
  resumed.began = {};
  purses.open(child, {purse_of(parent), resumed}, noon + 55'000);
  const auto time = purses.wall_time(child, noon + 56'000);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->limit, 60'000);
  EXPECT_EQ(time->left, 4'000) << "its own began 55 seconds later";
  EXPECT_LT(purses.wall_time(child, noon + 70'000)->left, 0);
}

}  // namespace
}  // namespace errand
