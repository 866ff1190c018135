// When the keeper looks, and what it makes of what it sees. That it ends real bombs is in tests/process/limits_test.cc.
#include "process/limit_watch.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace errand::process {
namespace {

constexpr int64_t mebibyte = 1 << 20;

TEST(NextLook, IsSeldomWhereNothingGrows) {
  const RunLimits limits{.memory_bytes = 2'048 * mebibyte, .processes = 512};
  const Look still{.cpu_s = 1, .memory_bytes = 10 * mebibyte, .processes = 3, .at_ms = 1'000};
  Look later = still;
  later.at_ms = 1'100;
  EXPECT_EQ(next_look_ms(limits, still, later, 0), 100);
  EXPECT_EQ(next_look_ms(limits, still, later, 15), 300) << "a big tree";
  EXPECT_EQ(next_look_ms({}, still, later, 0), 2'000) << "without a limit it is only told";
}

// A look is always taken before the limit can be reached at the speed that was seen.
TEST(NextLook, IsHalfwayToTheLimit) {
  const RunLimits limits{.memory_bytes = 1'000 * mebibyte};
  const Look before{.memory_bytes = 0, .at_ms = 0};
  const Look now{.memory_bytes = 10 * mebibyte, .at_ms = 10};
  const Look later{.memory_bytes = 900 * mebibyte, .at_ms = 110};
  EXPECT_EQ(next_look_ms(limits, {.memory_bytes = 800 * mebibyte, .at_ms = 10}, later, 0), 50);
  EXPECT_EQ(next_look_ms(limits, before, now, 0), 20) << "and after a start it comes step by step";
}

// A bomb doubles: by the speed of the last look it is always far from its limit.
TEST(NextLook, IsAtOnceWhereSomethingMultiplies) {
  const RunLimits limits{.memory_bytes = 2'048 * mebibyte, .processes = 512};
  const Look before{.memory_bytes = mebibyte, .processes = 2, .at_ms = 1'000};
  EXPECT_EQ(next_look_ms(limits, before, {.memory_bytes = mebibyte, .processes = 8, .at_ms = 1'100}, 0), 5);
  EXPECT_EQ(next_look_ms(limits, before, {.memory_bytes = 40 * mebibyte, .processes = 2, .at_ms = 1'100}, 0), 5);
}

TEST(NextLook, IsNeverSoSoonThatLookingIsTheWork) {
  const RunLimits limits{.memory_bytes = 1'000 * mebibyte};
  const Look before{.memory_bytes = 0, .at_ms = 0};
  const Look now{.memory_bytes = 999 * mebibyte, .at_ms = 10};
  EXPECT_EQ(next_look_ms(limits, before, now, 0), 5);
  EXPECT_EQ(next_look_ms(limits, before, now, 30), 60);
  EXPECT_EQ(next_look_ms(limits, before, now, 10'000), 500) << "a bomb does not win by making looks dear";
}

TEST(NextLook, CpuTimeIsLookedAtBeforeItCanRunOut) {
  const RunLimits limits{.cpu_s = 100};
  const Look look{.cpu_s = 99.99, .at_ms = 100};
  EXPECT_LE(next_look_ms(limits, look, look, 0), 20);
  EXPECT_GE(next_look_ms(limits, look, look, 0), 5);
}

TEST(LimitWatch, TellsWhatTheKernelEndedFromWhatEndedByItself) {
  LimitWatch watch({.cpu_s = 2}, nullptr);
  EXPECT_FALSE(watch.behind(0, 9)) << "it ended well, if late";
  EXPECT_FALSE(watch.behind(SIGKILL, 1.5)) << "somebody else's signal";
  ASSERT_TRUE(watch.behind(SIGXCPU, 2.5));
  EXPECT_EQ(watch.behind(SIGXCPU, 2.5)->limit, "cpu");
  EXPECT_EQ(watch.behind(SIGXCPU, 2.5)->value, 2);
  EXPECT_EQ(watch.behind(SIGXCPU, 2.5)->seen, 3);
}

}  // namespace
}  // namespace errand::process
