#include "engine/batches.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

const BatchId batch("batch_1");
const BatchPlace outside{};

Task task_of(const char* id, TaskState state, bool stopping = false) {
  Task task;
  task.id = TaskId(id);
  task.title = "a title";
  task.launch.batch_id = batch;
  task.launch.parent_session_id = SessionId("ses_parent");
  task.state = state;
  task.stopping = stopping;
  return task;
}
BatchPlace at(TaskState state, bool stopping = false) { return {state, stopping}; }

// Two tasks at work.
Batches two() {
  Batches batches;
  batches.add(batch);
  for (int i = 0; i < 2; ++i) {
    BatchMoves moves;
    batches.move(moves, batch, outside, at(TaskState::running));
    batches.settle(moves, true);
  }
  return batches;
}

TEST(Batches, R7_AreWholeWithTheLastEnd) {
  Batches batches = two();
  BatchMoves first, last;
  batches.move(first, batch, at(TaskState::running), at(TaskState::completed));
  EXPECT_EQ(batches.is_whole(batch, first), false);
  batches.settle(first, true);
  batches.move(last, batch, at(TaskState::running), at(TaskState::failed));
  EXPECT_EQ(batches.is_whole(batch, last), true);
  EXPECT_EQ(batches.stored(batch)->working(), 1) << "the last end is not durable yet";
  batches.settle(last, true);
  EXPECT_EQ(batches.stored(batch)->working(), 0);
}

TEST(Batches, NobodyKnowsWhileAnothersCommitIsUnderWay) {
  Batches batches = two();
  BatchMoves first, last;
  batches.move(first, batch, at(TaskState::running), at(TaskState::completed));
  batches.move(last, batch, at(TaskState::running), at(TaskState::completed));
  EXPECT_EQ(batches.is_whole(batch, last), std::nullopt) << "the first end may be refused";
  batches.undo(last);
  const Task held = task_of("task_b", TaskState::running);
  batches.hold(held);
  EXPECT_EQ(batches.settle(first, true), std::vector{held.id});
  BatchMoves again;
  batches.move(again, batch, at(TaskState::running), at(TaskState::completed));
  EXPECT_EQ(batches.is_whole(batch, again), true);
}

TEST(Batches, ALaunchUnderWayMayBeRefused) {
  Batches batches = two();
  BatchMoves gone, launch, end;
  batches.move(gone, batch, at(TaskState::running), at(TaskState::completed));
  batches.settle(gone, true);
  batches.move(launch, batch, outside, at(TaskState::pending));
  batches.move(end, batch, at(TaskState::running), at(TaskState::completed));
  EXPECT_EQ(batches.is_whole(batch, end), std::nullopt);
  batches.settle(launch, false);
  EXPECT_EQ(batches.is_whole(batch, end), true);
  EXPECT_EQ(batches.stored(batch)->total(), 2);
}

TEST(Batches, WhatIsBeingStoppedIsNotOver) {
  Batches batches = two();
  BatchMoves first, cancelled, stopped;
  batches.move(first, batch, at(TaskState::running), at(TaskState::completed));
  batches.settle(first, true);
  batches.move(cancelled, batch, at(TaskState::running), at(TaskState::cancelled, true));
  EXPECT_EQ(batches.is_whole(batch, cancelled), false);
  batches.settle(cancelled, true);
  batches.move(stopped, batch, at(TaskState::cancelled, true), at(TaskState::cancelled));
  EXPECT_EQ(batches.is_whole(batch, stopped), true);

  Batches after_start;
  StoredBatch stored;
  stored.counts.by_state[std::to_underlying(TaskState::cancelled)] = 1;
  after_start.add(batch, stored);
  after_start.take_up(task_of("task_a", TaskState::cancelled, true));
  EXPECT_EQ(after_start.is_whole(batch, {}), false) << "it has yet to tell of its end";
}

TEST(Batches, TheirNoticeNamesTheFirstFailures) {
  Batches batches;
  StoredBatch stored;
  stored.counts.by_state[std::to_underlying(TaskState::failed)] = batch_failures_max + 2;
  batches.add(batch, stored);
  for (size_t i = 0; i < batch_failures_max + 2; ++i) {
    Task failed = task_of(("task_" + std::to_string(i)).c_str(), TaskState::failed);
    failed.error = TaskError{"exit_code", "It said no.\nAnd more.", {}};
    batches.note_failure(failed);
  }
  batches.note_failure(task_of("task_0", TaskState::running));
  const Notice notice =
      batches.whole_notice(task_of("task_1", TaskState::failed), NoticeId("ntc_1"), Time{1'763'200'000'000});
  EXPECT_NE(notice.text.find("task_1 \"a title\" (exit_code): It said no."), std::string::npos) << notice.text;
  EXPECT_EQ(notice.text.find("And more"), std::string::npos);
  EXPECT_EQ(notice.text.find("task_0 "), std::string::npos) << "it works again";
  EXPECT_NE(notice.text.find("3 more"), std::string::npos) << notice.text;
  EXPECT_NE(notice.data.find(R"("failures":[{"task_id":"task_)"), std::string::npos) << notice.data;
}

TEST(Batches, AreLetGoWhenNothingIsLeftToCount) {
  Batches batches;
  batches.add(batch);
  BatchMoves launch;
  batches.move(launch, batch, outside, at(TaskState::pending));
  batches.let_go(batch);
  EXPECT_TRUE(batches.knows(batch)) << "a launch is under way";
  batches.settle(launch, false);
  batches.let_go(batch);
  EXPECT_FALSE(batches.knows(batch));
  EXPECT_EQ(batches.stored(batch), std::nullopt);
  BatchMoves none;
  batches.move(none, batch, outside, at(TaskState::pending));
  EXPECT_TRUE(none.empty()) << "of one that is not known nothing is counted";
}

}  // namespace
}  // namespace errand
