#include "engine/waiters.h"

#include <gtest/gtest.h>

#include "base/id.h"

namespace errand {
namespace {

const TaskId a("task_a"), b("task_b");

struct Room {
  // What was told to a waiter.
  using Told = std::shared_ptr<std::vector<Woken>>;
  Told wait(const std::vector<TaskId>& ids, Until until, Millis block_ms = 1'000) {
    Told told = std::make_shared<std::vector<Woken>>();
    last = waiters.add(ids, until, block_ms, [told](Woken why) { told->push_back(why); });
    return told;
  }
  void advance(Millis span) {
    clock.advance(span);
    timers.run_due();
  }

  ManualClock clock;
  TimerQueue timers{clock};
  Waiters<TaskId> waiters{timers};
  Waiters<TaskId>::Key last = 0;
};

TEST(Waiters, HearOfAllOrOfTheFirstOnce) {
  Room room;
  const auto all = room.wait({a, b, b}, Until::all);
  const auto first = room.wait({a, b}, Until::first);
  room.waiters.wake(b, Woken::came);
  EXPECT_EQ(*first, std::vector{Woken::came});
  EXPECT_TRUE(all->empty());
  room.waiters.wake(b, Woken::came);
  room.waiters.wake(a, Woken::gone);
  EXPECT_EQ(*all, std::vector{Woken::gone});
  EXPECT_EQ(*first, std::vector{Woken::came});
  EXPECT_EQ(room.waiters.size(), 0u);
  EXPECT_EQ(room.timers.size(), 0u) << "nothing is left behind";
}

TEST(Waiters, WaitForABoundedTime) {
  Room room;
  const auto one = room.wait({a}, Until::all, 500);
  const auto nothing = room.wait({}, Until::all, 500);
  room.advance(0);
  EXPECT_EQ(*nothing, std::vector{Woken::time_up});
  room.advance(499);
  EXPECT_TRUE(one->empty());
  room.advance(1);
  EXPECT_EQ(*one, std::vector{Woken::time_up});
  room.waiters.wake(a, Woken::came);
  EXPECT_EQ(one->size(), 1u);
}

TEST(Waiters, ThatGiveUpHearNothing) {
  Room room;
  const auto one = room.wait({a}, Until::all);
  EXPECT_TRUE(room.waiters.give_up(room.last));
  EXPECT_FALSE(room.waiters.give_up(room.last));
  room.waiters.wake(a, Woken::came);
  room.advance(5'000);
  EXPECT_TRUE(one->empty());
}

TEST(Waiters, MayFindOutByThemselves) {
  Room room;
  const auto both = room.wait({a, b}, Until::all);
  const auto key = room.last;
  const auto other = room.wait({a}, Until::all);
  room.waiters.came(key, a);
  room.waiters.came(key, a);
  EXPECT_TRUE(both->empty()) << "the same one twice is one";
  room.waiters.came(key, b);
  room.waiters.came(key, b);
  EXPECT_EQ(both->size(), 1u);
  EXPECT_TRUE(other->empty()) << "it is told by wake alone";
}

TEST(Waiters, MayWaitAgainOrMakeOthersGiveUpInsideBeingTold) {
  Room room;
  int told = 0;
  const auto other = room.wait({a}, Until::all);
  const auto key = room.last;
  room.waiters.add({a}, Until::all, 1'000, [&](Woken) {
    ++told;
    room.waiters.give_up(key);
    room.waiters.add({a}, Until::all, 1'000, [&](Woken) { ++told; });
  });
  room.waiters.wake(a, Woken::came);
  EXPECT_EQ(told, 1) << "it waits for the next time";
  room.waiters.wake(a, Woken::came);
  EXPECT_EQ(told, 2);
}

TEST(Waiters, AreDismissedWhenTheServerLeaves) {
  Room room;
  const auto one = room.wait({a}, Until::all);
  const auto two = room.wait({a, b}, Until::first);
  room.waiters.dismiss();
  EXPECT_EQ(*one, std::vector{Woken::dismissed});
  EXPECT_EQ(*two, std::vector{Woken::dismissed});
  EXPECT_EQ(room.timers.size(), 0u);
}

}  // namespace
}  // namespace errand
