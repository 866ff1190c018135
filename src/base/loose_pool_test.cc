#include "base/loose_pool.h"

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(LoosePool, OnesThatHangLeaveThreadsForTheOthers) {
  std::latch go(1), hanging(3), done(100);
  LoosePool pool(4);
  for (int i = 0; i < 3; ++i)
    pool.post([&] {
      hanging.count_down();
      go.wait();
    });
  hanging.wait();
  for (int i = 0; i < 100; ++i) pool.post([&] { done.count_down(); });
  done.wait();
  go.count_down();
  EXPECT_TRUE(pool.stop(10'000));
}

TEST(LoosePool, HasNoMoreThreadsThanItsBound) {
  std::latch go(1), hanging(2);
  std::atomic<int> ran = 0;
  LoosePool pool(2);
  for (int i = 0; i < 5; ++i)
    pool.post([&] {
      if (ran++ < 2) {
        hanging.count_down();
        go.wait();
      }
    });
  hanging.wait();
  EXPECT_EQ(ran, 2);
  go.count_down();
  while (ran < 5) std::this_thread::yield();
  EXPECT_TRUE(pool.stop(10'000));
}

TEST(LoosePool, StopsWithoutWhatHangsAndDropsWhatWaits) {
  auto go = std::make_shared<std::latch>(1);
  auto running = std::make_shared<std::latch>(1), over = std::make_shared<std::latch>(1);
  std::atomic<bool> ran = false;
  {
    LoosePool pool(1);
    pool.post([=] {
      running->count_down();
      go->wait();
      over->count_down();
    });
    running->wait();
    pool.post([&] { ran = true; });
    EXPECT_FALSE(pool.stop(1));
    pool.post([&] { ran = true; });
  }
  go->count_down();
  over->wait();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace errand
