// Tasks go with all that they launched; what is at work is left where only what is at rest is to go.
#include "engine/removal.h"

#include "engine/tasks_room_test.h"

namespace errand {
namespace {

struct Removing : TasksRoom {
  LivePtr child_of(const LivePtr& parent, const std::string& id) {
    Launch launch;
    launch.parent_session_id = parent->task->session_id;
    return working(id, launch);
  }
  bool is_there(const LivePtr& live) { return store->get(live->id).has_value(); }
  Result<void> remove(const LivePtr& live, bool only_at_rest) {
    return ask<void>([&](auto reply) { removal.remove_tree(live->id, Gone::deleted, only_at_rest, std::move(reply)); });
  }

  Each each{shared};
  Removal removal{shared, lives, each};
};

TEST(Removal, ATaskGoesWithAllThatItLaunchedAtWorkOrNot) {
  Removing room;
  const LivePtr task = room.working("task_a");
  const LivePtr child = room.child_of(task, "task_b");
  const LivePtr grandchild = room.child_of(child, "task_c");
  const LivePtr other = room.working("task_d");
  ASSERT_TRUE(room.remove(task, false));
  for (const LivePtr& gone : {task, child, grandchild}) EXPECT_FALSE(room.is_there(gone)) << gone->id.value;
  EXPECT_EQ(room.store->get(task->id).error().reason, "deleted");
  EXPECT_EQ(room.store->get(child->id).error().reason, "session_ended");
  EXPECT_TRUE(room.is_there(other));
}

TEST(Removal, OneAtWorkIsLeftWhereOnlyWhatIsAtRestIsToGo) {
  Removing room;
  const LivePtr task = room.working("task_a");
  const Result<void> refused = room.remove(task, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(room.is_there(task));
}

TEST(Removal, OfManyThoseThatAreGoneOrAtWorkAreNoErrorAndNotCounted) {
  Removing room;
  const LivePtr works = room.working("task_a");
  const LivePtr rests = room.queued("task_b");
  room.becomes(rests, input::Cancel{"user"});
  const Result<int64_t> removed = room.ask<int64_t>([&](auto reply) {
    room.removal.remove_each({works->id, rests->id, TaskId("task_never")}, Gone::expired, true, std::move(reply));
  });
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(*removed, 1);
  EXPECT_TRUE(room.is_there(works));
}

TEST(Removal, WhatTheStoreDoesNotTakeIsTold) {
  Removing room;
  const LivePtr task = room.queued("task_a");
  room.fault = Fault::full;
  EXPECT_FALSE(room.ask<int64_t>(
      [&](auto reply) { room.removal.remove_each({task->id}, Gone::deleted, false, std::move(reply)); }));
  EXPECT_TRUE(room.is_there(task));
}

TEST(Removal, WhatWasLaunchedUnderATaskWhileItWentGoesBehindIt) {
  Removing room;
  const LivePtr task = room.working("task_a");
  const LivePtr child = room.child_of(task, "task_b");
  room.removal.remove_stragglers(task->task->session_id);
  room.settle();
  EXPECT_FALSE(room.is_there(child));
}

TEST(Removal, ClearTakesAllPagesAndSaysHowManyAreLeft) {
  Removing room;
  constexpr int many = 203;  // More than a page.
  for (int i = 0; i < many; ++i) room.becomes(room.queued("task_" + std::to_string(i)), input::Cancel{"user"});
  room.working("task_at_work");
  const Result<Cleared> cleared = room.ask<Cleared>([&](auto reply) { room.removal.clear({}, std::move(reply)); });
  ASSERT_TRUE(cleared) << cleared.error().message;
  EXPECT_EQ(cleared->removed, many);
  EXPECT_EQ(cleared->left, 1);
  const Result<Cleared> unknown =
      room.ask<Cleared>([&](auto reply) { room.removal.clear({.batch = BatchId("batch_never")}, std::move(reply)); });
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, "unknown_batch");
}

}  // namespace
}  // namespace errand
