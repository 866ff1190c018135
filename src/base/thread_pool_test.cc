#include "base/thread_pool.h"

#include <atomic>
#include <latch>

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(ThreadPool, RunsEverythingThatIsPostedFromManyThreads) {
  constexpr int posters = 4, each = 250;
  std::atomic<int> ran = 0;
  std::latch done(posters * each);
  ThreadPool pool(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < posters; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < each; ++n)
        pool.post([&] {
          ++ran;
          done.count_down();
        });
    });
  for (std::thread& thread : threads) thread.join();
  done.wait();
  EXPECT_EQ(ran, posters * each);
}

TEST(ThreadPool, DropsWhatWaitsWhenItIsStopped) {
  std::latch running(1), go(1);
  std::atomic<int> ran = 0;
  ThreadPool pool(1);
  pool.post([&] {
    running.count_down();
    go.wait();
    ++ran;
  });
  running.wait();
  pool.post([&] { ++ran; });
  std::thread stopper([&] { pool.stop(); });
  go.count_down();
  stopper.join();
  EXPECT_LE(ran, 2);
  const int before = ran;
  pool.post([&] { ++ran; });
  EXPECT_EQ(ran, before);
}

}  // namespace
}  // namespace errand
