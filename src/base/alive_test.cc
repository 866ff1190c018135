#include "base/alive.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/beside.h"
#include "base/hand_executor.h"

namespace errand {
namespace {

TEST(Alive, AWatchSeesWhenItsObjectIsGone) {
  auto alive = std::make_unique<Alive>();
  const Alive::Watch watch = alive->watch();
  const Alive::Watch copy = watch;
  EXPECT_FALSE(watch.gone());
  alive.reset();
  EXPECT_TRUE(watch.gone());
  EXPECT_TRUE(copy.gone());
}

TEST(Alive, RenewedItLeavesOldWatchesBehind) {
  Alive alive;
  const Alive::Watch before = alive.watch();
  alive.renew();
  EXPECT_TRUE(before.gone());
  EXPECT_FALSE(alive.watch().gone());
}

TEST(RunThen, TellsTheLoopWhatWasDoneElsewhere) {
  HandExecutor elsewhere, loop;
  int told = 0;
  run_then(elsewhere, loop, [] { return 7; }, [&](int value) { told = value; });
  elsewhere.run();
  EXPECT_EQ(told, 0) << "not on the other thread";
  loop.run();
  EXPECT_EQ(told, 7);
}

TEST(RunThen, TellsNobodyWhoIsGone) {
  HandExecutor elsewhere, loop;
  auto alive = std::make_unique<Alive>();
  bool told = false;
  run_then(elsewhere, loop, alive->watch(), [] { return 7; }, [&](int) { told = true; });
  elsewhere.run();
  alive.reset();
  EXPECT_TRUE(loop.run_one());
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace errand
