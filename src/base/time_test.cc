#include "base/time.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(Times, ReadWhatTheyWrite) {
  for (int64_t ms : {0LL, 1LL, 951'782'399'999LL, 1'763'200'323'120LL, 4'102'444'800'000LL, -1LL}) {
    const Result<Time> back = parse_time(format_time({ms}));
    ASSERT_TRUE(back) << ms;
    EXPECT_EQ(back->ms, ms);
  }
  EXPECT_EQ(format_time({951'782'400'000}), "2000-02-29T00:00:00.000Z");
}

TEST(Times, UnderstandOffsetsAndFractions) {
  EXPECT_EQ(parse_time("2026-11-15T10:52:03.5+01:00"), parse_time("2026-11-15T09:52:03.500Z"));
  EXPECT_EQ(parse_time("2026-11-15T09:52:03.123456789Z")->ms % 1'000, 123);
}

TEST(Times, RefuseWhatIsNotATime) {
  for (const char* text : {"", "now", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-15T24:00:00Z",
                           "2026-11-15T09:52:03", "2026-11-15T09:52:03.Z", "2026-11-15T09:52:03Zx", "2026-11-15"})
    EXPECT_FALSE(parse_time(text)) << text;
}

TEST(Durations, ReadWell) {
  EXPECT_EQ(format_duration(850), "850 ms");
  EXPECT_EQ(format_duration(2'449), "2.4 s");
  EXPECT_EQ(format_duration(200'000), "3 m 20 s");
  EXPECT_EQ(format_duration(7'500'000), "2 h 5 m");
}

}  // namespace
}  // namespace errand
