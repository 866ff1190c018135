// What a turn of a command reports: its output, the lines to be told of, and how it ended.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "driver/command/command_bench_test.h"
#include "driver/run/outcome.h"
#include "driver/run_name.h"

namespace errand::command {
namespace {

namespace fs = std::filesystem;
using process::RunEnd;
using process::Stream;
using test::FakeSupervisor;
using Kind = Outcome::Kind;
using How = RunEnd::How;

using CommandTurnTest = CommandDriverTest;

// --- output

TEST_F(CommandTurnTest, TheFirstOutputIsReportedAtOnceAndTheRestTwentyTimesASecond) {
  auto turn = open();
  supervisor.print(run, Stream::out, "first\n");
  EXPECT_EQ(ear.calls.size(), 1u);
  for (int i = 0; i < 1'000; ++i) {
    supervisor.print(run, Stream::out, "x");
    pass(1);
  }
  EXPECT_GE(ear.calls.size(), 19u);
  EXPECT_LE(ear.calls.size(), 22u);
  pass(50);
  EXPECT_EQ(ear.text(), "first\n" + std::string(1'000, 'x'));
  EXPECT_EQ(ear.checkpoints.back(), "1006");
  EXPECT_NE(ear.all<report::Output>().at(0).log, nullptr);
}

TEST_F(CommandTurnTest, AfterAQuietWhileTheNextOutputIsReportedAtOnceAgain) {
  auto turn = open();
  supervisor.print(run, Stream::out, "a");
  pass(1'000);
  supervisor.print(run, Stream::out, "b");
  EXPECT_EQ(ear.text(), "ab");
  EXPECT_EQ(timers.size(), 1u);
  pass(1'000);
  EXPECT_EQ(timers.size(), 0u);  // Nobody polls.
}

TEST_F(CommandTurnTest, ACharacterInTwoPiecesIsShownWhole) {
  auto turn = open();
  supervisor.print(run, Stream::out, "\xf0\x9f");
  EXPECT_TRUE(ear.all<report::Output>().empty());
  pass(100);
  supervisor.print(run, Stream::out, "\x99\x82!");
  EXPECT_EQ(ear.text(), "🙂!");
  EXPECT_EQ(ear.all<report::Output>().at(0).offset, 0);
}

TEST_F(CommandTurnTest, OutputThatComesTooFastIsSkippedToItsNewest) {
  auto turn = open();
  supervisor.print(run, Stream::out, "begin\n");
  const std::string block(1 << 20, 'x');
  test::FakeJournal& journal = *supervisor.runs.at(run).journal;
  for (int i = 0; i < 40; ++i) journal.print(Stream::out, block);
  supervisor.print(run, Stream::out, "\nend\n");
  supervisor.end(run, {});
  pass(1'000);
  EXPECT_EQ(outcome().kind, Kind::completed);
  EXPECT_LT(journal.read_bytes, 10 << 20);
  const auto outputs = ear.all<report::Output>();
  EXPECT_EQ(outputs.back().offset + outputs.back().length, journal.size());
  int64_t next = 0;
  for (const report::Output& output : outputs) {
    if (output.stream != "stdout") continue;
    EXPECT_EQ(output.offset, next);  // No gap.
    EXPECT_LE(output.text.size(), output_text_max);
    next = output.offset + output.length;
  }
  EXPECT_EQ(outcome().result->substr(outcome().result->size() - 4), "end\n");
}

TEST_F(CommandTurnTest, WhereWhatItReportsIsNotStoredTheJournalIsNotReadOn) {
  auto turn = open();
  supervisor.print(run, Stream::out, "one\n");
  ear.room = false;
  pass(100);
  test::FakeJournal& journal = *supervisor.runs.at(run).journal;
  const int64_t read = journal.read_bytes;
  for (int i = 0; i < 100; ++i) {
    supervisor.print(run, Stream::out, "x");
    pass(50);
  }
  EXPECT_EQ(journal.read_bytes, read) << "it waits in its log";
  ear.make_room();
  EXPECT_EQ(ear.text(), "one\n" + std::string(100, 'x'));
  // The same at its end: that is told when all before it was.
  ear.room = false;
  supervisor.print(run, Stream::out, "last\n");
  supervisor.end(run, {.exit_code = 0});
  pass(1'000);
  EXPECT_TRUE(ear.outcomes.empty());
  ear.make_room();
  pass(100);
  EXPECT_EQ(outcome().kind, Kind::completed);
  EXPECT_EQ(ear.text(), "one\n" + std::string(100, 'x') + "last\n");
}

TEST_F(CommandTurnTest, ALogThatCannotBeReadIsSaidAndTheExitStillCounts) {
  auto turn = open();
  supervisor.runs.at(run).journal->broken = true;
  supervisor.print(run, Stream::out, "a");
  pass(100);
  supervisor.print(run, Stream::out, "b");
  supervisor.end(run, {.exit_code = 2});
  pass(100);
  EXPECT_EQ(ear.all<report::Warning>().size(), 1u);
  EXPECT_EQ(outcome().exit_code, 2);
}

TEST_F(CommandTurnTest, ALogThatIsWrittenFasterThanItIsReadIsReadLaterAndNothingIsSaid) {
  auto turn = open();
  test::FakeJournal& journal = *supervisor.runs.at(run).journal;
  journal.overtaken = true;
  supervisor.print(run, Stream::out, "a");
  pass(100);
  EXPECT_EQ(ear.text(), "");
  journal.overtaken = false;
  supervisor.print(run, Stream::out, "b");
  supervisor.end(run, {.exit_code = 0});
  pass(100);
  EXPECT_EQ(ear.text(), "ab");
  EXPECT_TRUE(ear.all<report::Warning>().empty());
  EXPECT_EQ(outcome().kind, Kind::completed);
}

// --- the end (R1.5, R9.4)

TEST_F(CommandTurnTest, ExitZeroCompletesWithTheTailOfTheOutput) {
  auto turn = open();
  supervisor.print(run, Stream::out, "out\n");
  supervisor.print(run, Stream::err, "err\n");
  supervisor.end(run, {.cpu_s = 1.5, .max_memory_bytes = 4096});
  EXPECT_EQ(outcome().kind, Kind::completed);
  EXPECT_EQ(outcome().result, "out\nerr\n");
  EXPECT_EQ(outcome().exit_code, 0);
  EXPECT_EQ(ear.text(), "out\nerr\n");
  EXPECT_EQ(ear.all<report::Resources>().at(0).memory_bytes, 4096);
}

TEST_F(CommandTurnTest, FailuresSayHowItWent) {
  const auto end_as = [&](RunEnd end) {
    ear = {};
    task.run += 1;
    const std::string name = run_name(task.id, task.run);
    auto turn = open();
    supervisor.print(name, Stream::err, "boom \xff\n");
    supervisor.end(name, std::move(end));
    return outcome();
  };
  Outcome got = end_as({.how = How::exited, .exit_code = 3});
  EXPECT_EQ(got.kind, Kind::failed);
  EXPECT_EQ(got.error->code, "exit");
  EXPECT_EQ(got.error->message, "The command exited with code 3.");
  EXPECT_EQ(got.error->details, R"({"exit_code":3,"stderr_tail":"boom �\n"})");
  EXPECT_EQ(got.exit_code, 3);
  got = end_as({.how = How::signalled, .signal = 9});
  EXPECT_EQ(got.error->code, "signal");
  EXPECT_EQ(got.error->message, "The command was ended by signal 9 (SIGKILL).");
  EXPECT_EQ(got.signal, 9);
  EXPECT_FALSE(got.exit_code);
  got = end_as({.how = How::timeout, .signal = 15});
  EXPECT_EQ(got.error->code, "timeout");
  EXPECT_NE(got.error->message.find("5 m"), std::string::npos) << got.error->message;
  got = end_as({.how = How::limit, .signal = 9, .text = "memory"});
  EXPECT_EQ(got.error->code, "limit");
  got = end_as({.how = How::limit, .signal = 9, .limit = "memory", .limit_value = 2LL << 30, .limit_seen = 3LL << 30});
  EXPECT_EQ(got.error->code, "memory");
  EXPECT_EQ(got.error->message,
            "The command took 3.00 GiB of memory and was ended: its limit is 2.00 GiB; set limits.memory_bytes "
            "(--memory) to give it more, or let it use less (fewer jobs at once).");
  EXPECT_EQ(got.error->details, R"({"signal":9,"limit":2147483648,"seen":3221225472,"stderr_tail":"boom �\n"})");
  got = end_as({.how = How::limit, .signal = 9, .limit = "processes", .limit_value = 5, .limit_seen = 7});
  EXPECT_EQ(got.error->code, "processes");
  EXPECT_NE(got.error->message.find("had 7 processes at once"), std::string::npos) << got.error->message;
  got = end_as({.how = How::limit, .signal = 9, .limit = "cpu", .limit_value = 1, .limit_seen = 2});
  EXPECT_EQ(got.error->code, "cpu");
  got = end_as({.how = How::spawn_failed, .text = "No such file or directory"});
  EXPECT_EQ(got.error->code, "spawn_failed");
  EXPECT_EQ(got.error->message, "The command could not be started: No such file or directory.");
  EXPECT_FALSE(got.exit_code);
  got = end_as({.how = How::stopped, .signal = 15});
  EXPECT_EQ(got.kind, Kind::stopped);
  got = end_as({.how = How::lost});
  EXPECT_EQ(got.kind, Kind::lost);
}

TEST_F(CommandTurnTest, TheTailsAreBoundedAndBeginAtALine) {
  test::FakeJournal journal;
  for (int i = 0; i < 5'000; ++i) {
    journal.print(Stream::out, "öutput line\n");
    journal.print(Stream::err, "ërror line\n");
  }
  const run::Tails tails = run::read_tails(journal);
  EXPECT_LE(tails.output.size(), run::result_tail_max);
  EXPECT_GT(tails.output.size(), run::result_tail_max - 20);
  EXPECT_TRUE(tails.output.starts_with("öutput") || tails.output.starts_with("ërror")) << tails.output.substr(0, 20);
  EXPECT_LE(tails.err.size(), run::stderr_tail_max);
  EXPECT_TRUE(tails.err.ends_with("ërror line\n"));
  EXPECT_TRUE(is_utf8(tails.err));
}

// --- lines to be told of

TEST_F(CommandTurnTest, AWatchedLineIsReportedOnceAlsoOverARestartInTheMiddleOfIt) {
  task.launch.notify_on = {"ready"};
  auto turn = open();
  supervisor.print(run, Stream::out, "starting\nserver is rea");
  pass(100);
  EXPECT_TRUE(ear.all<report::Match>().empty());
  turn.reset();
  task.checkpoint = ear.checkpoints.back();
  turn = open(true);
  supervisor.print(run, Stream::out, "dy\nand more\n");
  pass(100);
  ASSERT_EQ(ear.all<report::Match>().size(), 1u);
  EXPECT_EQ(ear.all<report::Match>()[0].line, "server is ready");
  turn.reset();
  task.checkpoint = ear.checkpoints.back();
  turn = open(true);
  supervisor.end(run, {});
  pass(100);
  EXPECT_EQ(ear.all<report::Match>().size(), 1u);
}

TEST_F(CommandTurnTest, AWatchedLineWithoutAnEndIsReportedWhenItIsQuiet) {
  task.launch.notify_on = {"Continue?"};
  auto turn = open();
  supervisor.print(run, Stream::err, "Continue? [y/n] ");
  pass(500);
  EXPECT_TRUE(ear.all<report::Match>().empty());
  pass(1'000);
  ASSERT_EQ(ear.all<report::Match>().size(), 1u);
  EXPECT_EQ(ear.all<report::Match>()[0].line, "Continue? [y/n] ");
}

TEST_F(CommandTurnTest, OutputThatIsNotLookedAtIsSaidOnce) {
  task.launch.notify_on = {"needle"};
  auto turn = open();
  supervisor.print(run, Stream::out, std::string(40 << 20, 'x') + "\nneedle\n");
  pass(100);
  const auto warnings = ear.all<report::Warning>();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].code, "watch_behind");
  EXPECT_EQ(ear.all<report::Match>().size(), 1u) << "the newest is looked at";
}

}  // namespace
}  // namespace errand::command
