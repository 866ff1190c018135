// Who begins: a slot for each turn that works, a place for each that waits, and the next one where a slot is free.
#include "engine/starts.h"

#include <vector>

#include "engine/tasks_room_test.h"

namespace errand {
namespace {

TEST(Starts, ATurnInLineHasItsPlaceAndAWorkingOneItsSlot) {
  TasksRoom room;
  const LivePtr live = room.queued("task_a");
  room.starts.settle(*live);
  EXPECT_EQ(room.slots.position(live->id), 1);
  EXPECT_FALSE(room.slots.holds(live->id));
  room.becomes(live, input::Start{});
  room.starts.settle(*live);
  EXPECT_FALSE(room.slots.position(live->id));
  EXPECT_TRUE(room.slots.holds(live->id));
  room.becomes(live, input::TurnEnded{.run = 1});
  room.starts.settle(*live);
  EXPECT_FALSE(room.slots.holds(live->id)) << "an end gives the slot back";
}

TEST(Starts, AsManyBeginAsThereAreSlotsInTheirOrder) {
  TasksRoom room;
  room.slots.set_limits({.total = 2, .per_agent = {}, .per_model = {}});
  std::vector<LivePtr> lives;
  for (const char* id : {"task_a", "task_b", "task_c"}) {
    lives.push_back(room.queued(id));
    room.starts.settle(*lives.back());
    room.clock.advance(1'000);
  }
  room.starts.start_queued();
  EXPECT_EQ(lives[0]->inbox.size(), 1u);
  EXPECT_EQ(lives[1]->inbox.size(), 1u);
  EXPECT_TRUE(lives[2]->inbox.empty());
  // Its start waits in its inbox: it is not put in line a second time.
  room.starts.settle(*lives[0]);
  EXPECT_TRUE(room.slots.holds(lives[0]->id));
}

TEST(Starts, NothingBeginsWhileTheServerLeavesOrIsNotReady) {
  TasksRoom room;
  const LivePtr live = room.queued("task_a");
  room.starts.settle(*live);
  room.shared.recovering = true;
  room.starts.start_queued();
  room.shared.recovering = false;
  room.shared.draining = true;
  room.starts.start_queued();
  EXPECT_TRUE(live->inbox.empty());
}

// A start that came while the end of its turn was under way was for that turn.
TEST(Starts, AStartThatIsLeftOverGoesWithItsSlot) {
  TasksRoom room;
  const LivePtr live = room.queued("task_a");
  room.becomes(live, input::Cancel{"user"});
  live->inbox.push_back({.input = input::Start{}});
  room.starts.settle(*live);
  EXPECT_TRUE(live->inbox.empty());
  EXPECT_FALSE(room.slots.holds(live->id));
}

TEST(Starts, TheNextOneIsStagedWithTheEndThatMakesRoomForIt) {
  TasksRoom room;
  room.slots.set_limits({.total = 1, .per_agent = {}, .per_model = {}});
  const LivePtr ends = room.working("task_a");
  const LivePtr next = room.queued("task_b");
  room.starts.settle(*ends);
  room.starts.settle(*next);
  ends->finished_run = ends->task->run;
  room.lives.submit(ends, {.input = input::TurnEnded{.run = ends->task->run}});
  room.lives.pump_all();
  EXPECT_EQ(room.commits.staged(), 1u);
  room.starts.start_in_place();
  EXPECT_EQ(room.commits.staged(), 2u) << "one wait for the disk";
  EXPECT_TRUE(room.slots.holds(next->id));
}

TEST(Starts, ASlotIsKeptUntilTheEndIsStoredWhereNobodyCanBeginAtOnce) {
  TasksRoom room;
  const LivePtr ends = room.working("task_a");
  room.starts.settle(*ends);
  ends->finished_run = ends->task->run;
  room.lives.submit(ends, {.input = input::TurnEnded{.run = ends->task->run}});
  room.lives.pump_all();
  room.starts.start_in_place();
  EXPECT_EQ(room.commits.staged(), 1u);
  EXPECT_TRUE(room.slots.holds(ends->id));
}

}  // namespace
}  // namespace errand
