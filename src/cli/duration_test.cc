#include "cli/duration.h"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

TEST(ParseDuration, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_duration("90"), 90'000);
  EXPECT_EQ(parse_duration("90s"), 90'000);
  EXPECT_EQ(parse_duration("5m"), 300'000);
  EXPECT_EQ(parse_duration("2h"), 7'200'000);
  EXPECT_EQ(parse_duration("1h30m"), 5'400'000);
  EXPECT_EQ(parse_duration("1.5h"), 5'400'000);
  EXPECT_EQ(parse_duration("250ms"), 250);
  EXPECT_EQ(parse_duration("7d"), 604'800'000);
  EXPECT_EQ(parse_duration("0"), 0);
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text : {"", "m", "5x", "-5", "5 m", "1..5s", "five", "5m x", "1e3", "99999999999d", "."}) {
    Result<Millis> span = parse_duration(text);
    ASSERT_FALSE(span) << text;
    EXPECT_EQ(span.error().code, Code::invalid_argument) << text;
  }
}

TEST(ParseSize, TakesBytesAndUnits) {
  EXPECT_EQ(parse_size("1000"), 1'000);
  EXPECT_EQ(parse_size("512M"), 512LL << 20);
  EXPECT_EQ(parse_size("512m"), 512LL << 20);
  EXPECT_EQ(parse_size("1.5G"), 1536LL << 20);
  EXPECT_EQ(parse_size("64MiB"), 64LL << 20);
  EXPECT_EQ(parse_size("2 GB"), 2LL << 30);
  EXPECT_EQ(parse_size("7B"), 7);
  EXPECT_EQ(parse_size("0"), 0);
}

TEST(ParseSize, RefusesWhatIsNone) {
  for (const char* text : {"", "G", "-1", "1X", "1 2", "1Gi", "1..5M", "9999999T", "1MBB", "0x10"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(SizeWords, AreShort) {
  EXPECT_EQ(size_words(900), "900 bytes");
  EXPECT_EQ(size_words(2LL << 30), "2 GiB");
  EXPECT_EQ(size_words(1'500LL << 20), "1.5 GiB");
}

TEST(LocalTime, HasItsDateWhereThatIsNotToday) {
  ::setenv("TZ", "CST-8", 1);  // By its rule: the machine may have no list of places.
  ::tzset();
  const Time noon{1'763'208'000'000};  // 2025-11-15T12:00:00Z
  EXPECT_EQ(local_time(noon, noon + 3'600'000), "20:00:00");
  EXPECT_EQ(local_time(noon, noon + 5 * 3'600'000), "2025-11-15 20:00:00");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(ShortDuration, HasOneUnit) {
  EXPECT_EQ(short_duration(4'900), "4s");
  EXPECT_EQ(short_duration(720'000), "12m");
  EXPECT_EQ(short_duration(3 * 3'600'000), "3h");
  EXPECT_EQ(short_duration(5 * 86'400'000), "5d");
  EXPECT_EQ(short_duration(-3), "0s") << "a clock that was set back";
}

TEST(ClockDuration, CountsLikeAClock) {
  EXPECT_EQ(clock_duration(7'000), "0:07");
  EXPECT_EQ(clock_duration(723'000), "12:03");
  EXPECT_EQ(clock_duration(3'723'000), "1:02:03");
}

}  // namespace
}  // namespace errand::cli
