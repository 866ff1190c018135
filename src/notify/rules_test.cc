#include "notify/rules.h"

#include <gtest/gtest.h>

namespace errand::notify {
namespace {

constexpr Millis hour = 3'600'000, minute = 60'000;
Time at(int hours, int minutes = 0) { return Time{20'000LL * 24 * hour + hours * hour + minutes * minute}; }

TEST(NextTry, ComesLaterEachTimeAndHasAnEnd) {
  Millis all = 0;
  for (int tries = 1; tries < tries_max; ++tries) {
    const std::optional<Millis> least = next_try(tries, 0, 0);
    ASSERT_TRUE(least);
    EXPECT_EQ(*least, retry_ms[static_cast<size_t>(tries - 1)]);
    for (const uint64_t chance : {1ull, 12'345'678ull, ~0ull}) {
      EXPECT_GE(*next_try(tries, chance, 0), *least);
      EXPECT_LE(*next_try(tries, chance, 0), *least + *least / 10);
    }
    all += *least;
  }
  EXPECT_EQ(tries_max, 8);
  EXPECT_GT(all, 27 * hour);
  EXPECT_FALSE(next_try(tries_max, 0, 0));
}

TEST(NextTry, WaitsAsLongAsTheReceiverAsksForWithinAnHour) {
  EXPECT_EQ(next_try(1, 0, 60'000), 60'000);
  EXPECT_EQ(next_try(1, 0, 1'000), 5'000) << "not sooner";
  EXPECT_EQ(next_try(1, 0, 100 * hour), retry_after_max_ms);
}

TEST(Quiet, IsReadAndWritten) {
  EXPECT_EQ(parse_quiet("22:00-07:30"), (Quiet{22 * 60, 7 * 60 + 30}));
  EXPECT_EQ(to_text(*parse_quiet("22:00-07:05")), "22:00-07:05");
  for (const char* wrong :
       {"", "22:00", "24:00-07:00", "22:60-07:00", "07:00-07:00", "7:00-08:00", "22:00 07:00", "ab:cd-ef:gh"})
    EXPECT_FALSE(parse_quiet(wrong)) << wrong;
}

TEST(Quiet, HoldsOverMidnightUntilItsEnd) {
  const std::optional<Quiet> night = parse_quiet("22:00-07:00");
  EXPECT_FALSE(quiet_until(night, at(21, 59), 0));
  EXPECT_EQ(quiet_until(night, at(22), 0), at(31));
  EXPECT_EQ(quiet_until(night, at(24 + 6, 59), 0), at(31));
  EXPECT_FALSE(quiet_until(night, at(31), 0));
  EXPECT_FALSE(quiet_until(std::nullopt, at(23), 0));
}

TEST(Quiet, HoldsWithinADayInTheServersOwnTime) {
  const std::optional<Quiet> lunch = parse_quiet("12:00-13:00");
  EXPECT_EQ(quiet_until(lunch, at(12, 30), 0), at(13));
  EXPECT_FALSE(quiet_until(lunch, at(13), 0));
  EXPECT_EQ(quiet_until(lunch, at(4, 30), 8 * hour), at(5)) << "half past twelve in Shanghai";
  EXPECT_EQ(quiet_until(lunch, at(20, 30), -8 * hour), at(21)) << "and in California";
}

}  // namespace
}  // namespace errand::notify
