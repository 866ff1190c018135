#include "engine/memory.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

constexpr int64_t mebibyte = 1 << 20;

struct Held {
  Held() {
    programs.on_want_room([this] { ++wanted; });
  }
  void works(const char* task, const char* agent) { slots.hold(TaskId(task), agent, ""); }
  void measured(const char* task, int64_t bytes, bool waits = false) {
    const std::string run = std::string(task) + ".1";
    programs.runs(run, {.agent = "claude", .task = TaskId(task), .driver = "claude", .waits = waits});
    programs.uses(run, bytes);
  }

  ManualClock clock;
  Programs programs{{"claude"}, clock};
  Agents agents{{},
                {{.id = "claude", .name = "claude", .driver = "claude"},
                 {.id = "mine", .name = "mine", .driver = "claude"},
                 {.id = "builtin", .name = "builtin", .driver = "builtin"}}};
  Slots slots{{}};
  int64_t most = 0;
  int wanted = 0;
  Memory memory{&programs, agents, slots, most};
};

TEST(Memory, HoldsFurtherProgramsBackWhileThoseAtWorkUseIt) {
  Held held;
  held.works("task_a", "claude");
  held.measured("task_a", 500 * mebibyte);
  EXPECT_FALSE(held.memory.hold("claude")) << "0 is no limit";
  held.most = 500 * mebibyte;
  EXPECT_TRUE(held.memory.hold("claude"));
  EXPECT_TRUE(held.memory.hold("mine")) << "an agent of one's own on the same driver";
  EXPECT_FALSE(held.memory.hold("builtin")) << "it starts no program";
  EXPECT_FALSE(held.memory.hold("gone")) << "whatever becomes of it, it is not held here";
  EXPECT_EQ(held.memory.why(),
            "The agents' programs use 500 MiB, and max_memory is 500 MiB: it begins when one of them has ended.");
  held.most = 501 * mebibyte;
  EXPECT_FALSE(held.memory.hold("claude"));
}

TEST(Memory, ATurnThatHasASlotAndNoProgramYetCountsWithWhatIsExpected) {
  Held held;
  held.most = 300 * mebibyte;
  held.measured("task_z", 200 * mebibyte);
  held.programs.gone("task_z.1");  // So much do they use.
  EXPECT_FALSE(held.memory.hold("claude"));
  held.works("task_a", "claude");
  EXPECT_FALSE(held.memory.hold("claude"));
  held.works("task_b", "claude");
  EXPECT_TRUE(held.memory.hold("claude")) << "two that have just begun would be too much already";
  held.measured("task_a", 10 * mebibyte);
  EXPECT_FALSE(held.memory.hold("claude")) << "measured, it is less";
}

TEST(Memory, OneMayAlwaysWorkAndWhatOnlyWaitsIsEndedForIt) {
  Held held;
  held.most = 100 * mebibyte;
  held.measured("task_a", 500 * mebibyte, true);
  EXPECT_FALSE(held.memory.hold("claude")) << "nobody is at work: it would wait for ever";
  EXPECT_EQ(held.wanted, 1);
  held.works("task_b", "claude");
  EXPECT_TRUE(held.memory.hold("claude"));
  EXPECT_EQ(held.wanted, 2);
}

TEST(Memory, WithoutProgramsNobodyIsHeld) {
  Held held;
  held.most = 1;
  Memory none(nullptr, held.agents, held.slots, held.most);
  EXPECT_FALSE(none.hold("claude"));
}

}  // namespace
}  // namespace errand
