// What is old goes by itself, at its time and not before; a clock that is set takes nothing with it.
#include "engine/retention.h"

#include "engine/tasks_room_test.h"

namespace errand {
namespace {

constexpr Millis hour = 3'600'000, day = 24 * hour;

struct Keeping : TasksRoom {
  Keeping() { retention.start({}); }
  void stored(Prepared& prepared, const Committed& committed) override {
    TasksRoom::stored(prepared, committed);
    if (prepared.commit.remove) retention.mark_made();
  }
  // A task at rest that is kept for so long.
  LivePtr rests(const std::string& id, Millis kept) {
    Launch launch;
    launch.retention_ms = kept;
    LivePtr live = queued(id, launch);
    becomes(live, input::Cancel{"user"});
    retention.expires(live->task->expires_at);
    return live;
  }
  bool is_there(const LivePtr& live) { return store->get(live->id).has_value(); }

  Each each{shared};
  Removal removal{shared, lives, each};
  Retention retention{shared, commits, removal};
};

TEST(Retention, EachGoesAtItsTimeAndSaysWhy) {
  Keeping room;
  const LivePtr late = room.rests("task_late", 2 * hour);
  const LivePtr soon = room.rests("task_soon", hour);
  const LivePtr kept = room.rests("task_kept", -1);
  room.advance(hour - 1'000);
  EXPECT_TRUE(room.is_there(soon));
  room.advance(2'000);
  EXPECT_FALSE(room.is_there(soon));
  EXPECT_EQ(room.store->get(soon->id).error().reason, "expired");
  EXPECT_TRUE(room.is_there(late));
  room.advance(hour);
  EXPECT_FALSE(room.is_there(late));
  EXPECT_TRUE(room.is_there(kept));
}

TEST(Retention, AClockThatIsSetForwardRemovesNothingForAnHour) {
  Keeping room;
  const LivePtr soon = room.rests("task_soon", hour);
  const LivePtr late = room.rests("task_late", 5 * day);
  room.clock.jump_wall(10 * day);
  room.advance(hour + 1'000);  // It is looked: both are old, by that clock.
  EXPECT_TRUE(room.is_there(soon));
  EXPECT_TRUE(room.is_there(late));
  room.clock.jump_wall(-10 * day);  // It is set right.
  for (int i = 0; i < 4; ++i) room.advance(hour);
  EXPECT_FALSE(room.is_there(soon));
  EXPECT_TRUE(room.is_there(late));
}

TEST(Retention, WhatTheStoreDoesNotTakeIsTriedAgainInAMinute) {
  Keeping room;
  const LivePtr task = room.rests("task_a", hour);
  room.advance(120'000);  // What a start does a minute later is behind it.
  room.fault = Fault::full;
  room.advance(hour);
  EXPECT_TRUE(room.is_there(task));
  room.advance(61'000);
  EXPECT_FALSE(room.is_there(task));
}

TEST(Retention, WhyATaskIsGoneIsKnownForAMonth) {
  Keeping room;
  const LivePtr task = room.rests("task_a", hour);
  room.advance(hour + 1);
  ASSERT_FALSE(room.is_there(task));
  room.advance(29 * day);
  EXPECT_EQ(room.store->get(task->id).error().reason, "expired");
  room.advance(2 * day);
  EXPECT_NE(room.store->get(task->id).error().reason, "expired");
}

}  // namespace
}  // namespace errand
