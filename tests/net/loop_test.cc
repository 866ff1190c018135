// The loop: work from any thread, timers, descriptors.
#include "net/loop.h"

#include <array>
#include <memory>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace errand::net {
namespace {

// Runs a loop on this thread until a piece of work stops it.
struct LoopTest : testing::Test {
  std::unique_ptr<Loop> loop = Loop::make();
  SystemClock clock;
};

TEST_F(LoopTest, WorkFromManyThreadsRunsOnceEachAndInOrderPerThread) {
  constexpr int threads = 8, each = 5'000;
  std::array<int, threads> next{};
  int done = 0;
  bool in_order = true;
  std::vector<std::thread> posters;
  for (int t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        loop->post([&, t, i] {
          in_order = in_order && next[static_cast<size_t>(t)]++ == i;
          if (++done == threads * each) loop->stop();
        });
    });
  loop->run();
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(done, threads * each);
  EXPECT_TRUE(in_order);
}

TEST_F(LoopTest, PostedWorkNeverRunsInsideThePost) {
  std::string order;
  loop->post([&] {
    loop->post([&] {
      order += "b";
      loop->stop();
    });
    order += "a";
  });
  loop->run();
  EXPECT_EQ(order, "ab");
}

TEST_F(LoopTest, WorkThatWaitsWhenTheLoopGoesIsDropped) {
  const auto kept = std::make_shared<int>(1);
  loop->post([kept] { FAIL(); });
  EXPECT_EQ(kept.use_count(), 2);
  loop.reset();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(LoopTest, ATimerFiresOnceNotBeforeItsTimeAndALaterSetReplacesIt) {
  const auto timer = loop->timer();
  const Time start = clock.steady();
  int first = 0, second = 0;
  timer->set(start + 5, [&] { ++first; });
  timer->set(start + 30, [&] {
    ++second;
    loop->stop();
  });
  loop->run();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  EXPECT_GE(clock.steady() - start, 30);
}

TEST_F(LoopTest, ATimerMayBeSetAgainAndDestroyedByItsOwnWork) {
  auto timer = loop->timer();
  int count = 0;
  std::function<void()> again = [&] {
    if (++count < 3) return timer->set(clock.steady() + 1, [&] { again(); });
    timer.reset();
    loop->post([&] { loop->stop(); });
  };
  timer->set(clock.steady(), [&] { again(); });
  loop->run();
  EXPECT_EQ(count, 3);
}

TEST_F(LoopTest, ACancelledOrDestroyedTimerDoesNotFireEvenIfItIsDue) {
  const auto cancelled = loop->timer();
  auto destroyed = loop->timer();
  const auto last = loop->timer();
  cancelled->set(clock.steady(), [] { FAIL(); });
  destroyed->set(clock.steady(), [] { FAIL(); });
  loop->post([&] {
    cancelled->cancel();
    destroyed.reset();
    last->set(clock.steady() + 20, [&] { loop->stop(); });
  });
  loop->run();
}

TEST_F(LoopTest, TheLoopsOwnTimerIsReplacedByALaterCall) {
  int first = 0;
  loop->set_timer(clock.steady() + 1000'000, [&] { ++first; });
  loop->set_timer(clock.steady() + 1, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(first, 0);
}

TEST_F(LoopTest, AWatchTellsReadabilityAndTheEnd) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const auto watch = loop->watch(ends[0]);
  std::string seen;
  std::function<void()> read = [&] {
    char buffer[8];
    const ssize_t got = ::recv(ends[0], buffer, sizeof buffer, MSG_DONTWAIT);
    if (got <= 0) return loop->stop();
    seen.append(buffer, static_cast<size_t>(got));
    watch->when_readable([&] { read(); });
  };
  watch->when_readable([&] { read(); });
  loop->post([&] { EXPECT_EQ(::write(ends[1], "one", 3), 3); });
  loop->post([&] { loop->post([&] { ::close(ends[1]); }); });
  loop->run();
  EXPECT_EQ(seen, "one");
}

TEST_F(LoopTest, AWatchThatIsGoneTellsNothingAndClosesItsDescriptor) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  auto watch = loop->watch(ends[0]);
  const auto other = loop->timer();
  watch->when_writable([&] { FAIL(); });  // It is writable already: told at once, if it were still there.
  watch->when_readable([&] { FAIL(); });
  loop->post([&] {
    watch.reset();
    char byte;
    EXPECT_EQ(::read(ends[1], &byte, 1), 0) << "the other end sees it closed";
    other->set(clock.steady() + 20, [&] { loop->stop(); });
  });
  loop->run();
  ::close(ends[1]);
}

TEST_F(LoopTest, SignalsAreToldOnTheLoopEachTime) {
  std::vector<int> seen;
  loop->on_signal({SIGUSR1, SIGUSR2}, [&](int signal) {
    seen.push_back(signal);
    if (seen.size() == 1) ::raise(SIGUSR2);
    if (seen.size() == 2) loop->stop();
  });
  ::raise(SIGUSR1);
  loop->run();
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

}  // namespace
}  // namespace errand::net
