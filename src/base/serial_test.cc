#include "base/serial.h"

#include <string>

#include <gtest/gtest.h>

#include "base/beside.h"
#include "base/hand_executor.h"

namespace errand {
namespace {

TEST(Serial, OneAfterTheOtherInTheirOrderAlsoOnManyThreads) {
  HandExecutor threads;
  std::string done;
  {
    Serial serial(threads);
    for (const char letter : {'a', 'b', 'c'}) serial.post([&done, letter] { done += letter; });
    EXPECT_TRUE(threads.run_one());
    EXPECT_EQ(done, "a");
    serial.post([&done] { done += 'd'; });
  }
  threads.run();
  EXPECT_EQ(done, "abcd") << "what was posted is done, also when it is gone";
}

TEST(Beside, TellsAnOwnerThatIsStillThere) {
  HandExecutor threads, engine;
  std::string told;
  auto beside = std::make_unique<Beside>(&threads, &engine);
  const auto ask = [&](char letter) {
    beside->run([letter] { return letter; }, [&told](char answer) { told += answer; });
  };
  ask('a');
  EXPECT_EQ(told, "");
  threads.run();
  EXPECT_EQ(told, "") << "on the engine's thread alone";
  engine.run();
  EXPECT_EQ(told, "a");
  ask('b');
  beside->clear();
  ask('c');
  threads.run();
  engine.run();
  EXPECT_EQ(told, "ac");
  ask('d');
  threads.run();
  beside.reset();
  engine.run();
  EXPECT_EQ(told, "ac");
}

}  // namespace
}  // namespace errand
