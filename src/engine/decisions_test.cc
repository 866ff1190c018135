// All that waits for a task becomes one commit: decided in order, numbered, with the notices that follow.
#include "engine/decisions.h"

#include <algorithm>

#include "engine/tasks_room_test.h"

namespace errand {
namespace {

struct Deciding : TasksRoom {
  using TasksRoom::TasksRoom;
  // What `inputs` come to, together.
  Prepared decide_on(const LivePtr& live, std::vector<Action> actions) {
    Prepared prepared;
    prepared.live = live;
    prepared.actions = std::move(actions);
    changed = decisions.decide_all(*live, prepared);
    return prepared;
  }
  LivePtr child(const std::string& id, const BatchId& batch = {}) {
    Launch launch;
    launch.parent_session_id = SessionId("ses_parent");
    launch.batch_id = batch;
    return working(id, launch);
  }
  bool changed = false;
};

std::vector<Action> actions_of(std::vector<Input> inputs) {
  std::vector<Action> actions;
  for (Input& input : inputs) actions.push_back({.input = std::move(input)});
  return actions;
}

Action calls(int run, int times) {
  Action action{.input = input::Activity{run}};
  action.reports.push_back(report::MessageBegan{});
  for (int i = 0; i < times; ++i) {
    const std::string id = "call_" + std::to_string(i);
    action.reports.push_back(report::ToolStarted{i, id, "read", "{}", ""});
    action.reports.push_back(report::ToolCompleted{id, "the same"});
  }
  return action;
}

TEST(Decisions, AllThatWaitsIsOneCommitNumberedBehindWhatIsStored) {
  Deciding room;
  const LivePtr live = room.child("task_a");
  const TaskPtr before = live->task;
  Action said{.input = input::Activity{before->run}, .checkpoint = "7"};
  said.reports = {report::MessageBegan{}, report::Text{0, false, "Done."}, report::MessageEnded{}};
  std::vector<Action> actions;
  actions.push_back(std::move(said));
  actions.push_back({.input = input::TurnEnded{.run = before->run, .result = "Done."}});
  const Prepared prepared = room.decide_on(live, std::move(actions));
  ASSERT_TRUE(room.changed);
  EXPECT_EQ(live->task, before) << "nothing is stored yet";
  EXPECT_EQ(prepared.after->state, TaskState::completed);
  EXPECT_EQ(prepared.after->checkpoint, "7");
  EXPECT_EQ(prepared.commit.before_version, before->version);
  EXPECT_EQ(prepared.after->version, before->version + 1);
  int64_t seq = before->last_seq;
  for (const Event& event : prepared.commit.events) EXPECT_EQ(event.seq, ++seq);
  EXPECT_EQ(prepared.after->last_seq, seq);
  EXPECT_EQ(prepared.commit.events.back().type, EventType::end) << "a notice does not come behind it";
  ASSERT_EQ(prepared.commit.notices.size(), 1u);
  EXPECT_EQ(prepared.told, std::vector{SessionId("ses_parent")});
}

TEST(Decisions, WhatIsRefusedHoldsNobodyElseUp) {
  Deciding room;
  const LivePtr live = room.working("task_a");
  const Prepared prepared = room.decide_on(live, actions_of({input::Retry{}, input::Cancel{"user"}}));
  EXPECT_TRUE(room.changed);
  ASSERT_EQ(prepared.refused.size(), 2u);
  EXPECT_TRUE(prepared.refused[0]);
  EXPECT_FALSE(prepared.refused[1]);
  EXPECT_EQ(prepared.after->state, TaskState::cancelled);
}

TEST(Decisions, ARemovalTellsNobodyAndWhatComesBehindItFindsNoTask) {
  Deciding room;
  const LivePtr live = room.child("task_a");
  const int run = live->task->run;
  const Prepared prepared =
      room.decide_on(live, actions_of({input::TurnEnded{.run = run}, input::Remove{false}, input::Cancel{"user"}}));
  EXPECT_EQ(prepared.commit.remove, Gone::deleted);
  EXPECT_TRUE(prepared.commit.notices.empty());
  EXPECT_TRUE(prepared.told.empty());
  ASSERT_TRUE(prepared.refused[2]);
  EXPECT_EQ(prepared.refused[2]->reason, "deleted");
}

TEST(Decisions, WhatAnotherRunReportsIsNothing) {
  Deciding room;
  const LivePtr live = room.working("task_a");
  const Prepared prepared = room.decide_on(live, [&] {
    std::vector<Action> actions;
    actions.push_back(calls(live->task->run + 1, 1));
    return actions;
  }());
  EXPECT_FALSE(room.changed);
  EXPECT_FALSE(prepared.after);
}

TEST(Decisions, R4_4_TheSameCallAgainAndAgainIsWarnedOfAndThenEnded) {
  Deciding room;
  const LivePtr live = room.working("task_a");
  const auto decide_calls = [&](int times) {
    std::vector<Action> actions;
    actions.push_back(calls(live->task->run, times));
    return room.decide_on(live, std::move(actions));
  };
  EXPECT_TRUE(decide_calls(2).commit.events.size() > 0);
  const auto warned = [](const Prepared& prepared) {
    return std::ranges::any_of(prepared.commit.events,
                               [](const Event& event) { return event.data.find("\"loop\"") != std::string::npos; });
  };
  EXPECT_FALSE(warned(decide_calls(2)));
  const Prepared some = decide_calls(room.shared.settings.loop_warn);
  EXPECT_TRUE(warned(some));
  EXPECT_TRUE(at_work(some.after->state));
  const Prepared all = decide_calls(room.shared.settings.loop_max);
  EXPECT_EQ(all.after->state, TaskState::failed);
  EXPECT_EQ(all.after->error->code, "loop");
}

TEST(Decisions, WhetherABatchIsWholeWaitsForTheCommitsOfOthers) {
  Deciding room;
  const BatchId batch("batch_x");
  const LivePtr first = room.child("task_a", batch);
  const LivePtr second = room.child("task_b", batch);
  const Result<StoredBatch> stored = read_batch(*room.store, batch);
  ASSERT_TRUE(stored);
  room.batches.add(batch, *stored);
  const Prepared one = room.decide_on(first, actions_of({input::TurnEnded{.run = first->task->run}}));
  EXPECT_FALSE(one.undecided);
  const Prepared two = room.decide_on(second, actions_of({input::TurnEnded{.run = second->task->run}}));
  EXPECT_TRUE(two.undecided) << "the first may yet be refused";
}

}  // namespace
}  // namespace errand
