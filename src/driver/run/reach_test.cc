#include "driver/run/reach.h"

#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace errand::run {
namespace {

// Every folder hangs until it is let go.
struct Hanging final : Executor {
  std::deque<Work> waiting;
  void post(Work work) override { waiting.push_back(std::move(work)); }
  void let_go() {
    Work work = std::move(waiting.front());
    waiting.pop_front();
    work();
  }
};
struct AtOnce final : Executor {
  int posted = 0;
  // Not inside the call: the caller holds its lock.
  std::deque<std::jthread> threads;
  void post(Work work) override {
    ++posted;
    threads.emplace_back([work = std::move(work)]() mutable { work(); });
  }
};

TEST(Reach, AFolderThatAnswersIsAskedEachTime) {
  AtOnce threads;
  const Reach reach(&threads);
  EXPECT_TRUE(reach.answers("/"));
  EXPECT_TRUE(reach.answers("/there/is/no/such/folder")) << "whether it is there is not asked";
  EXPECT_EQ(threads.posted, 2);
}

TEST(Reach, OneThatDoesNotIsWaitedForOnceAndThenToldAtOnceUntilItAnswers) {
  Hanging threads;
  const Reach reach(&threads, 50);
  const Status first = reach.answers("/dead");
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Code::unavailable);
  EXPECT_EQ(first.error().reason, "work_dir_unreachable");
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(reach.answers("/dead"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(25)) << "nobody waits a second time";
  EXPECT_EQ(threads.waiting.size(), 1u) << "one thread hangs there, not one for each who asks";
  EXPECT_FALSE(reach.answers("/dead2")) << "another folder is asked by itself";
  EXPECT_EQ(threads.waiting.size(), 2u);
  threads.let_go();
  EXPECT_FALSE(reach.answers("/dead"));
  EXPECT_EQ(threads.waiting.size(), 2u) << "it has answered: it is asked anew";
}

TEST(Reach, ThereIsABound) {
  Hanging threads;
  const Reach reach(&threads, 0);
  for (size_t i = 0; i < Reach::asked_max + 10; ++i) EXPECT_FALSE(reach.answers("/dead/" + std::to_string(i)));
  EXPECT_EQ(threads.waiting.size(), Reach::asked_max);
}

TEST(Reach, OneThatIsGoneIsNotTouched) {
  Hanging threads;
  {
    const Reach reach(&threads, 0);
    EXPECT_FALSE(reach.answers("/dead"));
  }
  threads.let_go();
}

}  // namespace
}  // namespace errand::run
