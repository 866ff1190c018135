#include "base/timers.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace errand {
namespace {

struct TimersTest : testing::Test {
  ManualClock clock;
  TimerQueue timers{clock};
  std::string ran;

  Work mark(char name) {
    return [this, name] { ran += name; };
  }
};

TEST_F(TimersTest, RunsInOrderOfTimeThenOfTheCalls) {
  timers.add(20, mark('c'));
  timers.add(10, mark('a'));
  timers.add(10, mark('b'));
  EXPECT_EQ(timers.run_due(), 0);
  clock.advance(10);
  EXPECT_EQ(timers.run_due(), 2);
  EXPECT_EQ(ran, "ab");
  clock.advance(10);
  timers.run_due();
  EXPECT_EQ(ran, "abc");
  EXPECT_EQ(timers.next_due(), Time{});
}

TEST_F(TimersTest, CancelledWorkIsNotCalledEvenByWorkOfTheSameMoment) {
  Timers::Key second = 0;
  timers.add(0, [&] { timers.cancel(second); });
  second = timers.add(0, mark('x'));
  timers.run_due();
  EXPECT_EQ(ran, "");
  EXPECT_EQ(timers.size(), 0u);
}

TEST_F(TimersTest, WorkThatAddsItselfAgainDoesNotKeepTheThread) {
  std::function<void()> again = [&] {
    ran += '.';
    timers.add(0, again);
  };
  timers.add(0, again);
  EXPECT_EQ(timers.run_due(), 1);
  EXPECT_EQ(timers.run_due(), 1);
  EXPECT_EQ(ran, "..");
}

TEST_F(TimersTest, TellsWhenSomethingIsEarlierThanAllOthers) {
  std::vector<Time> told;
  timers.on_earlier([&](Time due) { told.push_back(due); });
  const Time now = clock.steady();
  timers.add(50, mark('a'));
  timers.add(80, mark('b'));
  timers.add(5, mark('c'));
  EXPECT_EQ(told, (std::vector<Time>{now + 50, now + 5}));
  EXPECT_EQ(timers.next_due(), now + 5);
}

TEST_F(TimersTest, ATimerThatIsDestroyedOrSetAnewDoesNotFire) {
  auto timer = std::make_unique<Timer>(timers);
  timer->set(1, mark('a'));
  timer->set(1, mark('b'));
  EXPECT_TRUE(timer->pending());
  clock.advance(1);
  timers.run_due();
  EXPECT_EQ(ran, "b");
  EXPECT_FALSE(timer->pending());
  timer->set(0, mark('c'));
  timer.reset();
  timers.run_due();
  EXPECT_EQ(ran, "b");
}

TEST_F(TimersTest, ATimerMayBeDestroyedByItsOwnWork) {
  auto timer = std::make_unique<Timer>(timers);
  timer->set(0, [&] { timer.reset(); });
  timers.run_due();
  EXPECT_EQ(timer, nullptr);
}

}  // namespace
}  // namespace errand
