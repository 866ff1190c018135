#include "net/limiter.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

TEST(ClientKey, IsOnePerClientHoweverItsAddressIsWritten) {
  EXPECT_EQ(client_key("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(client_key("::ffff:10.1.2.3"), "10.1.2.3");
  for (const char* loopback : {"127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"})
    EXPECT_EQ(client_key(loopback), "loopback") << loopback;
  EXPECT_EQ(client_key("2001:db8:1:2:3:4:5:6"), client_key("2001:db8:1:2::9")) << "a network is one client";
  EXPECT_NE(client_key("2001:db8:1:2::9"), client_key("2001:db8:1:3::9"));
}

TEST(FailureLimiter, AllowsTenAMinuteAndSaysWhenToComeBack) {  // T29
  ManualClock clock;
  FailureLimiter limiter(clock, {});
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(limiter.fail("10.0.0.1"), 0) << i;
    clock.advance(1000);
  }
  EXPECT_EQ(limiter.fail("10.0.0.1"), 50'000);
  EXPECT_EQ(limiter.fail("::ffff:10.0.0.1"), 50'000) << "the same client";
  EXPECT_EQ(limiter.fail("10.0.0.2"), 0) << "another one";
  clock.advance(50'000);
  EXPECT_EQ(limiter.fail("10.0.0.1"), 0) << "the oldest failure is a minute old";
  EXPECT_GT(limiter.fail("10.0.0.1"), 0);
}

TEST(FailureLimiter, NeverAllowsMoreThanTenInAnyMinute) {
  ManualClock clock;
  FailureLimiter limiter(clock, {});
  std::vector<Time> allowed;
  for (int i = 0; i < 2000; ++i) {
    if (limiter.fail("127.0.0.1") == 0) allowed.push_back(clock.steady());
    clock.advance(137);
  }
  EXPECT_GT(allowed.size(), 40u);
  for (size_t i = 10; i < allowed.size(); ++i) EXPECT_GE(allowed[i] - allowed[i - 10], 60'000);
}

TEST(FailureLimiter, RemembersABoundedNumberOfClients) {
  ManualClock clock;
  FailureLimiter limiter(clock, {.failures = 1, .window_ms = 60'000, .clients = 100});
  EXPECT_EQ(limiter.fail("10.9.9.9"), 0);
  for (int i = 0; i < 1000; ++i) limiter.fail("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250));
  EXPECT_EQ(limiter.clients(), 100u);
  EXPECT_EQ(limiter.fail("10.9.9.9"), 0) << "forgotten: it failed longest ago";
  EXPECT_GT(limiter.fail("10.0.3.249"), 0) << "remembered: it failed last";
}

}  // namespace
}  // namespace errand::net
