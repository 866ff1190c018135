// Real children under a real supervisor; a server that dies is a client that hangs up and a LineChild that is gone.
#include "driver/line_child/line_child.h"

#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>

#include "tests/process/harness.h"

namespace errand::lines {
namespace {

using process::Bench;
using How = End::How;

// Remembers what it is told, and behaves as its test says.
struct Owner final : Listener {
  void started(int64_t n) override { began = n; }
  void lines(std::span<const Line> some) override {
    ++batches;
    for (const Line& line : some) {
      said.push_back(line.text);
      next = line.next;
    }
    if (on_lines) on_lines();
  }
  void ended(const End& how) override {
    ++ends;
    end = how;
  }
  void taken(int64_t number) override { numbers.push_back(number); }
  void refused(int64_t number, const Error& error) override { refusals.emplace_back(number, error); }

  std::optional<int64_t> began;
  std::vector<std::string> said;
  int64_t next = 0;
  int batches = 0;
  std::vector<int64_t> numbers;
  std::vector<std::pair<int64_t, Error>> refusals;
  std::optional<End> end;
  int ends = 0;
  std::function<void()> on_lines;
};

struct LineChildTest : testing::Test {
  Bench bench;
  SystemClock clock;
  TimerQueue timers{clock};

  Parts parts() {
    return {.supervisor = bench.client(),
            .timers = timers,
            .files = &bench.executor,
            .engine = &bench.executor,
            .open_journal = [this](const std::string& run) {
              return process::Journal::open(process::run_folder(bench.folder.path(), run));
            }};
  }
  std::unique_ptr<LineChild> child(Owner& owner, Options options = {}) {
    return std::make_unique<LineChild>(parts(), options, "task_l.1", owner);
  }
  process::SpawnRequest shell(const std::string& script) { return bench.shell("", script); }
  bool until(const std::function<bool()>& done) {
    return bench.executor.until([&] {
      timers.run_due();
      return done();
    });
  }
  // The supervisor knows that it has ended. Its end is on the disk a moment before that.
  bool takes_nothing(const std::string& run) {
    std::optional<Result<int64_t>> taken;
    bench.client().input(run, 0, {}, [&](Result<int64_t> answer) { taken = std::move(answer); });
    return until([&] { return taken.has_value(); }) && !*taken;
  }
  bool until_ended(Owner& owner) {
    return until([&] { return owner.end.has_value(); });
  }
};

TEST_F(LineChildTest, LinesGoInAndOutInOrderWithTheirPlaces) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(shell("while read line; do echo \"got $line\"; done; echo bye"));
  ASSERT_TRUE(until([&] { return owner.began.has_value(); }));
  EXPECT_EQ(owner.began, 0);
  EXPECT_EQ(child->write("one"), 1);
  EXPECT_EQ(child->write("two"), 2);
  ASSERT_TRUE(until([&] { return owner.said.size() == 2; }));
  EXPECT_EQ(owner.next, 16) << "behind the second line, its end included";
  child->close_input();
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said, (std::vector<std::string>{"got one", "got two", "bye"}));
  EXPECT_EQ(owner.numbers, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(owner.end->how, How::ended);
  EXPECT_EQ(owner.end->run.exit_code, 0);
  EXPECT_EQ(owner.ends, 1);
  EXPECT_FALSE(child->put("more"));
}

// A line whose number is to be stored first holds back those behind it.
TEST_F(LineChildTest, WhatIsPutGoesOutWhenItIsLetGoAndNotBefore) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(bench.command("", {"/bin/cat"}));
  ASSERT_TRUE(until([&] { return owner.began.has_value(); }));
  EXPECT_EQ(child->put("first"), 1);
  EXPECT_EQ(child->write("second"), 2);
  bench.list();  // All that was on its way to the supervisor has been there.
  EXPECT_TRUE(owner.numbers.empty());
  child->let_go(1);
  ASSERT_TRUE(until([&] { return owner.said.size() == 2; }));
  EXPECT_EQ(owner.said, (std::vector<std::string>{"first", "second"}));
  child->stop();
  EXPECT_TRUE(until_ended(owner));
}

TEST_F(LineChildTest, AServerThatDiesMissesNothingAndSaysNothingTwice) {
  Owner before;
  auto child = this->child(before);
  child->spawn(shell("while read line; do echo \"got $line\"; done"));
  ASSERT_TRUE(until([&] { return before.began.has_value(); }));
  child->write("one");
  child->write("two");
  ASSERT_TRUE(until([&] { return before.said.size() == 2; }));
  child->release(before.next);
  child->write("three");
  ASSERT_TRUE(until([&] { return before.numbers.size() == 3; }));
  child.reset();  // It dies before it has read the answer to that.
  bench.reconnect();

  Owner after;
  child = this->child(after);
  EXPECT_FALSE(child->put("x")) << "its number is not known yet";
  child->attach(before.next);
  ASSERT_TRUE(until([&] { return after.began.has_value(); }));
  EXPECT_EQ(after.began, 3) << "so the owner knows that the third need not be written again";
  EXPECT_EQ(child->write("four"), 4);
  child->close_input();
  ASSERT_TRUE(until_ended(after));
  EXPECT_EQ(after.said, (std::vector<std::string>{"got three", "got four"}));
}

TEST_F(LineChildTest, OneThatEndedMeanwhileIsReadToItsEnd) {
  Owner before;
  auto child = this->child(before);
  const std::string alone = bench.folder.path() + "/alone";
  child->spawn(
      shell("echo hello; read line; until [ -e " + alone + " ]; do sleep 0.01; done; echo last; echo why >&2; exit 3"));
  ASSERT_TRUE(until([&] { return before.said.size() == 1; }));
  child->write("go");
  ASSERT_TRUE(until([&] { return before.numbers.size() == 1; }));
  child.reset();
  std::ofstream(alone) << "";  // What it says from here on nobody has heard.
  ASSERT_TRUE(until([&] { return takes_nothing("task_l.1"); }));
  bench.reconnect();

  Owner after;
  child = this->child(after);
  child->attach(before.next);
  ASSERT_TRUE(until_ended(after));
  EXPECT_EQ(after.said, (std::vector<std::string>{"last"}));
  EXPECT_EQ(after.began, all_taken) << "started() comes first, always";
  EXPECT_FALSE(child->put("more"));
  EXPECT_EQ(after.end->run.exit_code, 3);
  EXPECT_EQ(after.end->last_words, "why\n");
  EXPECT_EQ(describe(*after.end), "It ended with code 3: why");
}

TEST_F(LineChildTest, OneThatWasNeverStartedIsStartedOrSaysSo) {
  Owner owner;
  auto child = this->child(owner);
  child->attach(0);
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.end->how, How::not_started);
  EXPECT_EQ(owner.end->error.reason, "not_found");

  Owner second;
  child = this->child(second);
  child->attach(0, shell("echo here"));
  ASSERT_TRUE(until_ended(second));
  EXPECT_EQ(second.said, (std::vector<std::string>{"here"}));

  Owner third;
  child = std::make_unique<LineChild>(parts(), Options{}, "task_l.2", third);
  child->attach(7, shell("echo twice"));
  ASSERT_TRUE(until_ended(third));
  EXPECT_EQ(third.end->how, How::not_started) << "it has spoken once: it is not started a second time";
}

TEST_F(LineChildTest, AProgramThatIsNotThereIsNamed) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(bench.command("", {"/nonexistent/agent"}));
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.end->how, How::not_started);
  EXPECT_EQ(owner.end->error.reason, "spawn_failed");
  EXPECT_TRUE(describe(*owner.end).contains("/nonexistent/agent")) << describe(*owner.end);
}

TEST_F(LineChildTest, KilledItSaysHowAndWhatItSaidLast) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(shell("echo one; printf 'half a line'; printf '\\033[31mred\\033[0m and \\377' >&2; kill -9 $$"));
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said, (std::vector<std::string>{"one"})) << "half a line is none";
  EXPECT_EQ(owner.end->run.signal, SIGKILL);
  EXPECT_EQ(describe(*owner.end), "It was ended by signal 9: red and \xEF\xBF\xBD");
}

TEST_F(LineChildTest, HalfALineWaitsForItsRestAndWhatIsOnStandardErrorIsNoPartOfIt) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(shell("printf 'be'; echo noise >&2; read go; printf 'gun\\r\\n\\n  \\nnext\\n'"));
  ASSERT_TRUE(until([&] { return owner.began.has_value(); }));
  ASSERT_TRUE(until([&] { return bench.list().at(0).output_bytes == 8; }));
  EXPECT_TRUE(owner.said.empty());
  child->write("go");
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said, (std::vector<std::string>{"begun", "next"})) << "empty lines are left out, as is \\r";
}

TEST_F(LineChildTest, ALineThatIsTooLongEndsItAndWhatCameBeforeIsTold) {
  Owner owner;
  const auto child = this->child(owner, {.line_max = 1000});
  child->spawn(shell("echo ok; head -c 5000 /dev/zero | tr '\\0' x; sleep 1000"));
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said, (std::vector<std::string>{"ok"}));
  EXPECT_EQ(owner.end->how, How::broken);
  EXPECT_EQ(describe(*owner.end), "It sent a line of more than 1000 bytes.");
  EXPECT_FALSE(bench.list().at(0).alive) << "nothing of it is left";
}

// A disk that is slower than the child: what it says waits in the journal, not here.
TEST_F(LineChildTest, WhileItIsHeldNothingIsToldAndThenAllOfIt) {
  Owner owner;
  const auto child = this->child(owner);
  owner.on_lines = [&] { child->hold(); };
  child->spawn(shell("i=0; while [ $i -lt 60000 ]; do echo \"line $i of a flood\"; i=$((i+1)); done"));
  ASSERT_TRUE(until([&] { return owner.batches == 1; }));
  ASSERT_TRUE(until([&] { return bench.list().at(0).end.has_value(); }));
  EXPECT_EQ(owner.batches, 1);
  EXPECT_FALSE(owner.end) << "what it said comes before its end";
  owner.on_lines = nullptr;
  child->go_on();
  ASSERT_TRUE(until_ended(owner));
  ASSERT_EQ(owner.said.size(), 60'000u);
  EXPECT_EQ(owner.said.back(), "line 59999 of a flood");
  EXPECT_GT(owner.batches, 2) << "in bounded pieces";
}

// Past the bound of the journal a child waits for whoever stores what it says; on standard error it need not.
TEST_F(LineChildTest, AFloodOfErrorsIsLetGoAndOneOfLinesWaitsForItsOwner) {
  Owner owner;
  auto child = this->child(owner);
  child->spawn(
      shell("head -c 90000000 /dev/zero >&2; echo through; read go; yes \"$(printf %0999d 0)\" | head -c 90000000; "
            "echo end"));
  ASSERT_TRUE(until([&] { return !owner.said.empty(); }));
  EXPECT_EQ(owner.said.front(), "through");
  const int64_t stored = owner.next;
  child->release(stored);
  child->write("go");
  ASSERT_TRUE(until([&] { return owner.next - stored > (63 << 20); }));
  EXPECT_FALSE(owner.end);
  owner.on_lines = [&] { child->release(owner.next); };
  child->release(owner.next);
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said.back(), "end");
  EXPECT_EQ(owner.said.size(), 90'000u + 2);
}

TEST_F(LineChildTest, OneThatDoesNotReadIsWrittenToLaterAndWhatWaitsIsBounded) {
  Owner owner;
  const auto child = this->child(owner, {.unwritten_max = 4u << 20});
  child->spawn(shell("while [ ! -e " + bench.folder / "go" + " ]; do sleep 0.02; done; wc -l"));
  ASSERT_TRUE(until([&] { return owner.began.has_value(); }));
  const std::string big((1u << 20) - 1, 'x');
  int written = 0;
  ASSERT_TRUE(until([&] {
    const Result<int64_t> number = child->write(big);
    if (number) ++written;
    return !number && number.error().code == Code::exhausted;
  }));
  std::ofstream(bench.folder / "go").flush();
  ASSERT_TRUE(until([&] { return std::ssize(owner.numbers) == written; }));
  child->close_input();
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.said, (std::vector<std::string>{std::to_string(written)}));
}

TEST_F(LineChildTest, ItIsStoppedWithAllBelowItAndADroppedOneSaysNothingMore) {
  Owner owner;
  auto child = this->child(owner);
  child->spawn(shell("(setsid sleep 1000 &); echo up; sleep 1000"));
  child->stop();  // Before it is known to run.
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.end->run.how, process::RunEnd::How::stopped);

  Owner silent;
  child = std::make_unique<LineChild>(parts(), Options{}, "task_l.2", silent);
  child->spawn(shell("echo up; trap '' TERM; sleep 1000"));
  ASSERT_TRUE(until([&] { return !silent.said.empty(); }));
  child->drop();
  ASSERT_TRUE(until([&] { return bench.list().at(1).end.has_value(); }));
  EXPECT_FALSE(silent.end);
}

// The supervisor dies, and with it the child: the owner is told, and asked for nothing.
TEST_F(LineChildTest, WithoutItsSupervisorItIsLost) {
  Owner owner;
  const auto child = this->child(owner);
  child->spawn(shell("echo up; sleep 1000"));
  ASSERT_TRUE(until([&] { return !owner.said.empty(); }));
  ::kill(bench.supervisor_pid(), SIGKILL);
  ASSERT_TRUE(until_ended(owner));
  EXPECT_EQ(owner.end->run.how, process::RunEnd::How::lost);
}

}  // namespace
}  // namespace errand::lines
