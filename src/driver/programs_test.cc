#include "driver/programs.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

constexpr int64_t mebibyte = 1 << 20;

struct Kept {
  Kept() {
    programs.on_less([this] { ++less; });
  }
  Programs::Program of(const char* task, const char* agent = "claude") {
    return {.agent = agent, .task = TaskId(task), .driver = agent};
  }

  ManualClock clock;
  Programs programs{{"claude", "opencode"}, clock};
  int less = 0;
};

TEST(Programs, CountWithWhatIsExpectedUntilTheyAreMeasured) {
  Kept kept;
  kept.programs.starts("task_a.1", kept.of("task_a"));
  const int64_t guess = kept.programs.memory();
  EXPECT_GT(guess, 100 * mebibyte) << "nothing was seen yet: a guess";
  EXPECT_EQ(kept.programs.at_work().memory_bytes, 0) << "but nobody is shown a guess";
  kept.programs.uses("task_a.1", 100 * mebibyte);
  EXPECT_EQ(kept.programs.memory(), 100 * mebibyte);
  EXPECT_EQ(kept.less, 1) << "it is less than was expected";
  kept.programs.starts("task_b.1", kept.of("task_b"));
  EXPECT_EQ(kept.programs.memory(), 200 * mebibyte) << "as the last one of the same agent";
  kept.programs.uses("task_a.1", 150 * mebibyte);
  EXPECT_EQ(kept.less, 1);
  kept.programs.gone("task_a.1");
  kept.programs.gone("task_a.1");
  EXPECT_EQ(kept.less, 2);
  EXPECT_EQ(kept.programs.seen("claude").memory_bytes, 150 * mebibyte) << "the most that the last one used";
}

TEST(Programs, ThoseThatWaitAreCountedApart) {
  Kept kept;
  kept.programs.starts("task_a.1", kept.of("task_a"));
  kept.programs.uses("task_a.1", 7 * mebibyte);
  Programs::Program waits = kept.of("task_a");
  waits.waits = true;
  kept.programs.runs("task_a.1", waits);
  EXPECT_EQ(kept.programs.at_work().count, 0);
  EXPECT_EQ(kept.programs.waiting().count, 1);
  EXPECT_EQ(kept.programs.waiting("claude").memory_bytes, 7 * mebibyte) << "what was measured stays";
  EXPECT_EQ(kept.programs.waiting("other").count, 0);
  kept.programs.runs("task_a.1", kept.of("task_a"));
  EXPECT_EQ(kept.programs.at_work("claude").count, 1);
}

TEST(Programs, AStartIsMeasuredOnceAndOnlyWhereItWasSeen) {
  Kept kept;
  kept.programs.runs("task_a.1", kept.of("task_a"));
  kept.clock.advance(5'000);
  kept.programs.ready("task_a.1", "2.1.0");
  EXPECT_EQ(kept.programs.seen("claude").start_ms, 0) << "somebody else has started it";
  EXPECT_EQ(kept.programs.seen("claude").version, "2.1.0");
  kept.programs.starts("task_b.1", kept.of("task_b"));
  kept.clock.advance(700);
  kept.programs.ready("task_b.1", "");
  kept.clock.advance(9'000);
  kept.programs.ready("task_b.1", "");  // A second turn in the same program.
  EXPECT_EQ(kept.programs.seen("claude").start_ms, 700);
  EXPECT_EQ(kept.programs.seen("claude").version, "2.1.0");
}

TEST(Programs, OneForAllTasksIsTheProgramOfEach) {
  Kept kept;
  EXPECT_FALSE(kept.programs.has(TaskId("task_a"), "opencode"));
  kept.programs.starts("opencode__serve.1", {.agent = "opencode", .task = {}, .driver = "opencode"});
  EXPECT_TRUE(kept.programs.has(TaskId("task_a"), "opencode"));
  EXPECT_FALSE(kept.programs.has(TaskId("task_a"), "claude"));
}

}  // namespace
}  // namespace errand
