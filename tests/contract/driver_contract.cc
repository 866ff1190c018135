#include "tests/contract/driver_contract.h"

#include <fmt/format.h>

namespace errand::test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverContract);

using Kind = Outcome::Kind;

TEST_P(DriverContract, EndsOnceAndLastWithAResult) {
  Host host(*world, world->speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  world->settle();
  EXPECT_EQ(host.ended(), 1);
  ASSERT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_FALSE(host.outcome()->result.value_or("").empty());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(world->left_behind(), 0);
}

TEST_P(DriverContract, TheSameWorkGivesTheSameTranscript) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    world = GetParam().world();
    Host host(*world, world->speaks());
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    if (i == 0) first = host.transcript().text();
    EXPECT_EQ(host.transcript().text(), first);
  }
}

// A slow disk changes when it is told, and nothing else.
TEST_P(DriverContract, ToldToWaitAfterEachReportItGivesTheSameTranscript) {
  std::string first;
  for (const bool slow : {false, true}) {
    world = GetParam().world();
    Host host(*world, world->speaks());
    host.slow = slow;
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
    EXPECT_EQ(host.broken(), "");
    if (!slow) first = host.transcript().text();
    EXPECT_EQ(host.transcript().text(), first);
  }
}

// R1.5: a failure has a code and a message.
TEST_P(DriverContract, AFailureSaysWhy) {
  Host host(*world, world->fails());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  ASSERT_EQ(host.outcome()->kind, Kind::failed);
  ASSERT_TRUE(host.outcome()->error);
  EXPECT_FALSE(host.outcome()->error->code.empty());
  EXPECT_FALSE(host.outcome()->error->message.empty());
  EXPECT_EQ(host.broken(), "");
}

// R1.6: nothing of it survives, and what came so far is kept.
TEST_P(DriverContract, StopEndsItAndMayBeRepeated) {
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  const std::string before = host.transcript().text();
  host.turn().stop();
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  host.turn().stop();
  EXPECT_EQ(host.ended(), 1);
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(host.broken(), "");
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(world->left_behind(), 0);
}

TEST_P(DriverContract, StopRightAfterOpenEndsItToo) {
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(world->left_behind(), 0);
}

TEST_P(DriverContract, ATurnThatIsDroppedLeavesNothingBehind) {
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  const int reports = host.reports();
  host.drop();
  EXPECT_TRUE(world->run_until([&] { return world->left_behind() == 0; }));
  EXPECT_EQ(host.reports(), reports);
  EXPECT_EQ(host.ended(), 0);
  EXPECT_EQ(host.broken(), "");
}

// R14.4: no way in which the server ends stops work, except the order to stop it.
TEST_P(DriverContract, ATurnThatIsDestroyedWithoutAnOrderIsSilentAndItsWorkGoesOn) {
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  const int before = world->left_behind();
  host.close();
  world->settle();
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.ended(), 0);
  EXPECT_EQ(world->left_behind(), world->outlives_server() ? before : 0);
  if (!world->driver().capabilities().reattach) return;
  ASSERT_TRUE(host.crash_and_reopen());
  EXPECT_EQ(host.ended(), 0);
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped) << "it was still at work";
  EXPECT_EQ(host.broken(), "");
  EXPECT_TRUE(world->run_until([&] { return world->left_behind() == 0; }));
}

// R5.1: in order, exactly once.
TEST_P(DriverContract, EveryMessageIsTakenOnceAndRepeatsAreDropped) {
  if (!world->driver().capabilities().message_while_running) GTEST_SKIP() << "takes no messages while it runs";
  Host host(*world, world->speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  MessageId first, second;
  ASSERT_TRUE(host.send("one more thing: héllo", &first));
  ASSERT_TRUE(host.resend(first));
  ASSERT_TRUE(host.send("and another", &second));
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_TRUE(host.transcript().taken.contains(first));
  EXPECT_TRUE(host.transcript().taken.contains(second));
  EXPECT_LT(host.transcript().said().find("one more thing"), host.transcript().said().find("and another"));
  EXPECT_EQ(host.send("too late").error().code, Code::conflict);
}

TEST_P(DriverContract, AMessageThatItCannotTakeIsRefused) {
  if (world->driver().capabilities().message_while_running) GTEST_SKIP() << "takes messages";
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  EXPECT_EQ(host.send("hello").error().code, Code::unsupported);
}

// R2.2: the server may die at any report; a reader sees the same in the end.
TEST_P(DriverContract, TakenUpFromEveryCheckpointItGivesTheSameTranscript) {
  if (!world->driver().capabilities().reattach) GTEST_SKIP() << "cannot be taken up";
  Host whole(*world, world->speaks());
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  ASSERT_EQ(whole.broken(), "");
  whole.close();
  for (int stored = 0; stored <= whole.reports(); ++stored) {
    SCOPED_TRACE(fmt::format("the server dies with {} of {} reports stored", stored, whole.reports()));
    world = GetParam().world();
    Host host(*world, world->speaks());
    host.store_only(stored);
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_reports(stored));
    ASSERT_TRUE(host.crash_and_reopen());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.transcript().text(), whole.transcript().text());
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
    EXPECT_EQ(host.outcome()->result, whole.outcome()->result);
    EXPECT_EQ(world->left_behind(), 0);
  }
}

TEST_P(DriverContract, DyingAgainAndAgainLosesNothing) {
  if (!world->driver().capabilities().reattach) GTEST_SKIP() << "cannot be taken up";
  Host whole(*world, world->speaks());
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  whole.close();
  world = GetParam().world();
  Host host(*world, world->speaks());
  host.store_only(1);
  ASSERT_TRUE(host.open());
  for (int stored = 1; stored <= whole.reports() && host.ended() == 0; ++stored) {
    ASSERT_TRUE(host.run_until_reports(stored));
    ASSERT_TRUE(host.crash_and_reopen());
  }
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.transcript().text(), whole.transcript().text());
}

TEST_P(DriverContract, AMessageThatWasNotTakenBeforeTheServerDiedIsTakenAfter) {
  const Capabilities can = world->driver().capabilities();
  if (!can.reattach || !can.message_while_running) GTEST_SKIP() << "needs messages and reattach";
  Host host(*world, world->speaks());
  host.store_only(1);
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  MessageId id;
  ASSERT_TRUE(host.send("do not forget me", &id));
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_TRUE(host.transcript().taken.contains(id));
}

TEST_P(DriverContract, AProbeOfWhatIsAtWorkBreaksNothing) {
  Host host(*world, world->goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  host.turn().probe();
  host.turn().probe();
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  host.turn().probe();
  world->settle();
  EXPECT_EQ(host.broken(), "");
}

}  // namespace errand::test
