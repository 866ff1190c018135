// Folders that launches name: looked at beside the engine's thread, and not waited for without end.
#include "engine/looks.h"

#include <optional>

#include <gtest/gtest.h>

#include "base/hand_executor.h"

namespace errand {
namespace {

struct LooksTest : testing::Test {
  HandExecutor loop;
  ManualClock clock;
  TimerQueue timers{clock};
  // Every look hangs until it is let go.
  struct Threads final : Executor {
    std::deque<Work> hanging;
    void post(Work work) override { hanging.push_back(std::move(work)); }
  } threads;
  std::optional<Looks> looks{std::in_place, threads, loop, clock, timers, [] {}};
  std::vector<std::string> answers;
  Status found;

  void ask(const std::string& folder, const std::string& who = "x") {
    Launch launch;
    launch.work_dir = folder;
    looks->look(
        "demo", launch, [this] { return found; },
        [this, who](const Status& status) {
          answers.push_back(who + " " + (status ? "good" : status.error().reason));
        });
  }
  void let_go() {
    Work work = std::move(threads.hanging.front());
    threads.hanging.pop_front();
    work();
    loop.run();
  }
  void pass(Millis ms) {
    clock.advance(ms);
    timers.run_due();
    loop.run();
  }
  using Answers = std::vector<std::string>;
};

TEST_F(LooksTest, WhoAsksForTheSameSharesOneLook) {
  for (const char* who : {"a", "b", "c"}) ask("/work", who);
  EXPECT_EQ(threads.hanging.size(), 1u);
  EXPECT_EQ(answers, Answers{});
  let_go();
  EXPECT_EQ(answers, (Answers{"a good", "b good", "c good"}));
  EXPECT_EQ(threads.hanging.size(), 0u);
}

// The folder may have been made between the two.
TEST_F(LooksTest, WhoAskedLaterIsNotToldThatAFolderWasMissingBefore) {
  ask("/work", "early");
  ask("/work", "late");
  found = fail(Code::invalid_argument, "", "bad_work_dir");
  let_go();
  EXPECT_EQ(answers, Answers{"early bad_work_dir"});
  found = {};
  let_go();
  EXPECT_EQ(answers, (Answers{"early bad_work_dir", "late good"}));
}

TEST_F(LooksTest, AFolderThatDoesNotAnswerIsSaidAfterAWhile) {
  ask("/dead/a", "a");
  pass(Looks::patience_ms - 1);
  ask("/dead/a", "b");
  EXPECT_EQ(answers, Answers{});
  pass(1);
  EXPECT_EQ(answers, Answers{"a work_dir_unreachable"});
  pass(Looks::patience_ms - 2);
  EXPECT_EQ(answers.size(), 1u);
  pass(1);
  EXPECT_EQ(answers.back(), "b work_dir_unreachable");
  EXPECT_EQ(timers.size(), 0u);
  // It answers after all: nobody is told twice, and it can be asked for again.
  let_go();
  EXPECT_EQ(answers.size(), 2u);
  pass(Looks::believed_ms);
  ask("/dead/a", "c");
  let_go();
  EXPECT_EQ(answers.back(), "c good");
}

// One launch after the other into the same folder: one look a second, and none of them waits for a thread.
TEST_F(LooksTest, AFolderThatWasGoodIsBelievedForAMoment) {
  ask("/work", "a");
  pass(Looks::believed_ms / 2);
  let_go();
  ask("/work", "b");
  EXPECT_EQ(answers, (Answers{"a good", "b good"})) << "at once";
  EXPECT_EQ(threads.hanging.size(), 0u);
  ask("/work2", "another folder");
  EXPECT_EQ(threads.hanging.size(), 1u);
  let_go();
  // From when the look began: what it saw is that old.
  pass(Looks::believed_ms - Looks::believed_ms / 2);
  found = fail(Code::invalid_argument, "", "bad_work_dir");
  ask("/work", "c");
  EXPECT_EQ(answers.size(), 3u);
  let_go();
  EXPECT_EQ(answers.back(), "c bad_work_dir");
}

TEST_F(LooksTest, AFolderThatWasMissingIsLookedAtAgain) {
  found = fail(Code::invalid_argument, "", "bad_work_dir");
  ask("/work", "a");
  let_go();
  found = {};
  ask("/work", "b");
  EXPECT_EQ(answers, Answers{"a bad_work_dir"});
  let_go();
  EXPECT_EQ(answers.back(), "b good");
}

// Another driver, sandbox or added folder is another look.
TEST_F(LooksTest, OnlyTheSameLookIsBelieved) {
  ask("/work");
  let_go();
  Launch launch;
  launch.work_dir = "/work";
  const auto asks = [&](const std::string& driver) {
    looks->look(driver, launch, [] { return Status(); }, [](const Status&) {});
    return std::exchange(threads.hanging, {}).size() == 1;
  };
  EXPECT_TRUE(asks("command"));
  launch.sandbox = Sandbox::strict;
  EXPECT_TRUE(asks("demo"));
  launch.sandbox = Sandbox::off;
  launch.add_dirs = {"/other"};
  EXPECT_TRUE(asks("demo"));
  launch.add_dirs = {};
  EXPECT_FALSE(asks("demo"));
}

TEST_F(LooksTest, FoldersSideBySideLeaveThreadsForOthers) {
  for (int i = 0; i < 50; ++i) ask("/dead/" + std::to_string(i), "dead");
  EXPECT_EQ(threads.hanging.size(), static_cast<size_t>(Looks::side_by_side_max));
  ask("/home/good", "good");
  EXPECT_EQ(threads.hanging.size(), static_cast<size_t>(Looks::side_by_side_max) + 1);
  pass(Looks::patience_ms);
  EXPECT_EQ(answers.size(), 51u);
  // Those that nobody waits for any more are not looked at.
  for (int i = 0; i <= Looks::side_by_side_max; ++i) let_go();
  EXPECT_EQ(threads.hanging.size(), 0u);
}

TEST_F(LooksTest, ThereIsABoundForAllOfThem) {
  for (size_t i = 0; i < Looks::at_once_max; ++i) ask("/" + std::to_string(i) + "/dead", "dead");
  ask("/one/more", "more");
  EXPECT_EQ(answers, Answers{}) << "not inside the call";
  loop.run();
  EXPECT_EQ(answers, Answers{"more work_dir_unreachable"});
}

TEST_F(LooksTest, OneThatIsGoneIsNotCalledBack) {
  ask("/work");
  looks.reset();
  let_go();
  EXPECT_EQ(answers, Answers{});
}

}  // namespace
}  // namespace errand
