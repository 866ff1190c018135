// Deadlines: when they fire, and that a clock which is set moves none of them.
#include <algorithm>

#include "engine/world_test.h"

namespace errand {
namespace {

constexpr Millis hour = 3'600'000;
constexpr Millis day = 24 * hour;

// When the task came to rest, in steady time after `from`; -1 where it did not within `most`.
double at_rest_after(World& world, const TaskId& id, Time from, Millis most) {
  while (world.clock.steady() - from < most) {
    if (!at_work(world.get(id).state)) return static_cast<double>(world.clock.steady() - from);
    world.advance(50, 50);
  }
  return -1;
}

std::vector<std::string> warnings(World& world, const TaskId& id) {
  std::vector<std::string> found;
  for (const Event& event : *world.store->events_after(id, 0, 10'000))
    if (event.type == EventType::task_warning) found.push_back(event.data);
  return found;
}

TEST(Deadlines, T15_ATimeoutFiresWhenItIsDue) {
  World world;
  const Time from = world.clock.steady();
  const Task task = world.launch("long 600", [](Launch& launch) { launch.timeout_ms = 300'000; });
  EXPECT_NEAR(at_rest_after(world, task.id, from, 400'000), 300'000, 1'000);
  EXPECT_EQ(world.get(task.id).reason, "timeout");
}

TEST(Deadlines, T15_SilenceIsWarnedOfAtHalfAndHungAtTheLimit) {
  World world;
  const Time from = world.clock.steady();
  const Task task = world.launch("silent 600", [](Launch& launch) { launch.idle_timeout_ms = 120'000; });
  world.advance(59'000, 50);
  EXPECT_TRUE(warnings(world, task.id).empty());
  world.advance(2'000, 50);
  ASSERT_EQ(warnings(world, task.id).size(), 1U);
  EXPECT_TRUE(warnings(world, task.id)[0].contains("no CPU use and no I/O for 1 m")) << warnings(world, task.id)[0];
  EXPECT_NEAR(at_rest_after(world, task.id, from, 200'000), 120'000, 1'000);
  EXPECT_EQ(world.get(task.id).reason, "hung");
}

TEST(Deadlines, AHungTurnIsBegunAgainAsOftenAsTheSettingSays) {
  World world({.max_restarts = 2});
  const Task task = world.launch("silent 600", [](Launch& launch) {
    launch.idle_timeout_ms = 8'000;
    launch.on_hang = OnHang::restart;
  });
  world.advance(40'000, 50);
  const Task hung = world.get(task.id);
  EXPECT_EQ(hung.reason, "hung");
  EXPECT_EQ(hung.run, 3);
  EXPECT_TRUE(hung.error->message.contains("begun again 2 times")) << hung.error->message;
  std::vector<std::string> restarts = warnings(world, task.id);
  std::erase_if(restarts, [](const std::string& data) { return !data.contains("\"restart\""); });
  ASSERT_EQ(restarts.size(), 2U);
  EXPECT_TRUE(restarts[1].contains("restart 2 of 2")) << restarts[1];
}

TEST(Deadlines, ARestartAfterAHangDoesNotGiveTheTaskMoreTime) {
  World world;
  const Time from = world.clock.steady();
  const Task task = world.launch("silent 600", [](Launch& launch) {
    launch.timeout_ms = 20'000;
    launch.idle_timeout_ms = 8'000;
    launch.on_hang = OnHang::restart;
  });
  EXPECT_NEAR(at_rest_after(world, task.id, from, 60'000), 20'000, 1'000);
  EXPECT_EQ(world.get(task.id).reason, "timeout");
}

class ClockIsSet : public testing::TestWithParam<Millis> {};

TEST_P(ClockIsSet, T20_NoTimeoutIsEarlyOrLate) {
  World world;
  const Time from = world.clock.steady();
  const Task late = world.launch("long 600", [](Launch& launch) { launch.timeout_ms = 30'000; });
  const Task hung = world.launch("silent 600", [](Launch& launch) { launch.idle_timeout_ms = 20'000; });
  const Task again = world.launch("silent 600", [](Launch& launch) {
    launch.timeout_ms = 40'000;
    launch.idle_timeout_ms = 16'000;
    launch.on_hang = OnHang::restart;
  });
  world.advance(12'000, 50);
  world.clock.jump_wall(GetParam());
  EXPECT_NEAR(at_rest_after(world, hung.id, from, 60'000), 20'000, 1'000);
  EXPECT_NEAR(at_rest_after(world, late.id, from, 60'000), 30'000, 1'000);
  EXPECT_NEAR(at_rest_after(world, again.id, from, 60'000), 40'000, 1'000);
  EXPECT_EQ(world.get(hung.id).reason, "hung");
  EXPECT_EQ(world.get(late.id).reason, "timeout");
  EXPECT_EQ(world.get(again.id).reason, "timeout");
}

TEST_P(ClockIsSet, T20_NothingExpiresAtOnceAndNothingThatIsKept) {
  World world;
  std::vector<TaskId> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(world.launch("noop", [](Launch& launch) { launch.retention_ms = 20 * 60'000; }).id);
  world.advance(2'000, 50);
  world.clock.jump_wall(GetParam());
  // The pass that would have removed them, and what a task that ends meanwhile asks for.
  const Task other = world.launch("noop", [](Launch& launch) { launch.retention_ms = 1'000; });
  world.advance(30 * 60'000, 1'000);
  const auto left = [&] {
    return std::ranges::count_if(ids, [&](const TaskId& id) { return world.store->get(id).has_value(); });
  };
  EXPECT_EQ(left(), 20);
  EXPECT_TRUE(world.store->get(other.id));
  // Set right in time: nothing has happened, and they go when they are old.
  world.clock.jump_wall(-GetParam());
  world.advance(3 * hour, 5'000);
  EXPECT_EQ(left(), 0);
}

TEST_P(ClockIsSet, T20_EventsStayInTheOrderInWhichTheyHappened) {
  World world;
  const Task task = world.launch("long 20");
  world.advance(5'000, 50);
  world.clock.jump_wall(GetParam());
  world.advance(20'000, 50);
  ASSERT_EQ(world.get(task.id).state, TaskState::completed);
  const std::vector<Event> events = *world.store->events_after(task.id, 0, 10'000);
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq, static_cast<int64_t>(i) + 1);
  EXPECT_EQ(events.front().type, EventType::task_created);
  EXPECT_EQ(events.back().type, EventType::end);
}

INSTANTIATE_TEST_SUITE_P(Jumps, ClockIsSet, testing::Values(hour + 1, -hour - 1, day, -day, 30 * day, -30 * day),
                         [](const auto& jump) {
                           return (jump.param < 0 ? "Back" : "Forward") + std::to_string(std::abs(jump.param) / hour) +
                                  "h";
                         });

}  // namespace
}  // namespace errand
