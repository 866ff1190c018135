#include "driver/command/command_driver.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdlib.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "driver/command/outcome.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::command {
namespace {

namespace fs = std::filesystem;
using process::RunEnd;
using process::Stream;
using test::FakeSupervisor;
using Kind = Outcome::Kind;
using How = RunEnd::How;

struct Ear : Sink {
  std::vector<std::vector<Report>> calls;
  std::vector<std::string> checkpoints;
  std::vector<Outcome> outcomes;

  void report(std::vector<Report> batch, std::string checkpoint) override {
    EXPECT_TRUE(outcomes.empty()) << "a report after the end";
    calls.push_back(std::move(batch));
    checkpoints.push_back(std::move(checkpoint));
  }
  void when_stored(Work) override {}  // Nothing here is ever durable.
  void ended(Outcome outcome) override { outcomes.push_back(std::move(outcome)); }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const auto& batch : calls)
      for (const Report& any : batch)
        if (const T* one = std::get_if<T>(&any)) out.push_back(*one);
    return out;
  }
  std::string text() const {
    std::string out;
    for (const auto& output : all<report::Output>()) out += output.text;
    return out;
  }
};

struct Posted : Executor {
  std::vector<Work> works;
  void post(Work work) override { works.push_back(std::move(work)); }
};

struct CommandDriverTest : testing::Test {
  std::string data_dir;
  ManualClock clock;
  TimerQueue timers{clock};
  FakeSupervisor supervisor{timers};
  Posted background;
  CommandOptions options;
  std::unique_ptr<Driver> driver;
  Ear ear;
  Task task;
  const std::string run = "task_1.3";

  CommandDriverTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-command-XXXXXX").string();
    data_dir = ::mkdtemp(pattern.data());
    task.id = TaskId("task_1");
    task.session_id = SessionId("ses_1");
    task.run = 3;
    task.launch.kind = TaskKind::command;
    task.launch.command = "work";
    task.launch.work_dir = data_dir;
    options = {.data_dir = data_dir,
               .environment = {"PATH=/bin", "API_KEY=secret"},
               .open_journal = [this](const std::string& name) { return supervisor.journal(name); }};
    make_driver();
  }
  void make_driver() { driver = make_command_driver(options, {supervisor, timers, background}); }
  ~CommandDriverTest() override { fs::remove_all(data_dir); }

  std::unique_ptr<Turn> open(bool reattach = false, std::vector<Message> messages = {}) {
    auto turn = driver->open(
        {.task = std::make_shared<Task>(task), .messages = std::move(messages), .history = {}, .reattach = reattach},
        ear);
    EXPECT_TRUE(turn) << turn.error().message;
    pass(0);
    return *std::move(turn);
  }
  void pass(Millis ms) {
    const Time end = clock.steady() + ms;
    while (timers.next_due() && timers.next_due() <= end) {
      clock.advance(std::max<Millis>(timers.next_due() - clock.steady(), 0));
      timers.run_due();
    }
    clock.advance(end - clock.steady());
  }
  const Outcome& outcome() {
    EXPECT_EQ(ear.outcomes.size(), 1u);
    return ear.outcomes.at(0);
  }
  Error refused() {
    const Status checked = driver->check(task.launch);
    EXPECT_FALSE(checked);
    return checked ? Error{} : checked.error();
  }
};

// --- before it starts

TEST_F(CommandDriverTest, ChecksWhatCannotBeRun) {
  EXPECT_TRUE(driver->check(task.launch));
  task.launch.command = " \n";
  EXPECT_EQ(refused().code, Code::invalid_argument);
  task.launch.command = std::string("a\0b", 3);
  EXPECT_EQ(refused().message, "The command has a NUL byte in it; remove it.");
  task.launch.command = std::string(200'000, 'x');
  EXPECT_EQ(refused().code, Code::too_large);
  task.launch.argv = {"echo", "fine"};
  EXPECT_TRUE(driver->check(task.launch));
  task.launch.argv = {""};
  EXPECT_EQ(refused().code, Code::invalid_argument);
}

// Never silently without one: the words say what to do.
TEST_F(CommandDriverTest, ASandboxThatCannotBeHadIsRefusedInPlainWords) {
  task.launch.argv = {"echo"};
  task.launch.sandbox = Sandbox::strict;
  EXPECT_EQ(refused().code, Code::unsupported);
  EXPECT_NE(refused().message.find("older version"), std::string::npos);
  supervisor.can = {.known = true, .bwrap_text = "bubblewrap is not installed; install it"};
  EXPECT_EQ(refused().code, Code::unsupported);
  EXPECT_NE(refused().message.find("\"strict\" cannot be had here: bubblewrap is not installed; install it."),
            std::string::npos)
      << refused().message;
}

TEST_F(CommandDriverTest, ASandboxedCommandIsStartedInItsSandbox) {
  supervisor.can = {.known = true, .bwrap = "/usr/bin/bwrap"};
  task.launch.sandbox = Sandbox::workspace;
  EXPECT_EQ(refused().reason, "sandbox_folder") << "its work dir is errand's own folder";
  task.launch.work_dir = data_dir + "-work";
  fs::create_directory(task.launch.work_dir);
  EXPECT_TRUE(driver->check(task.launch));
  auto turn = open();
  const process::SpawnRequest& request = supervisor.runs.at(run).request;
  EXPECT_TRUE(request.sandboxed);
  EXPECT_EQ(request.argv.front(), "/usr/bin/bwrap");
  EXPECT_EQ(request.argv.back(), "work");
  fs::remove(task.launch.work_dir);
}

TEST_F(CommandDriverTest, CommandsWorkOnlyWhereTheServerLetsThem) {
  fs::create_directories(data_dir + "/allowed/below");
  fs::create_directories(data_dir + "/allowed-not");
  fs::create_directory_symlink("/", data_dir + "/allowed/link");
  options.work_dirs = {data_dir + "/allowed"};
  make_driver();
  for (const char* folder : {"/allowed", "/allowed/below", "/allowed/../allowed"}) {
    task.launch.work_dir = data_dir + folder;
    EXPECT_TRUE(driver->check(task.launch)) << folder;
  }
  for (const char* folder : {"/allowed-not", "", "/allowed/link", "/allowed/.."}) {
    task.launch.work_dir = data_dir + folder;
    EXPECT_EQ(refused().code, Code::forbidden) << folder;
    EXPECT_NE(refused().message.find("work_dirs"), std::string::npos);
  }
  task.launch.work_dir = data_dir + "/allowed";
  task.launch.add_dirs = {"/"};
  EXPECT_EQ(refused().code, Code::forbidden);
}

TEST_F(CommandDriverTest, ChecksThatTheWorkDirIsAFolder) {
  task.launch.work_dir = data_dir + "/missing";
  EXPECT_NE(refused().message.find("does not exist"), std::string::npos);
  task.launch.work_dir = data_dir + "/file";
  std::ofstream(task.launch.work_dir) << "x";
  EXPECT_NE(refused().message.find("is not a folder"), std::string::npos);
  task.launch.work_dir = "relative";
  EXPECT_NE(refused().message.find("absolute"), std::string::npos);
}

// R9.1, R9.4, R4.3: what the supervisor is asked for.
TEST_F(CommandDriverTest, SpawnsAShellWithItsLimitsAndEnvironment) {
  task.launch.limits = {
      .cpu_s = 5, .memory_bytes = 1 << 30, .processes = 9, .open_files = 64, .output_bytes = 1'000, .nice = 3};
  task.launch.env = {{"MINE", "yes"}};
  auto turn = open();
  const process::SpawnRequest& request = supervisor.runs.at(run).request;
  EXPECT_EQ(request.argv, (std::vector<std::string>{"/bin/sh", "-c", "work"}));
  EXPECT_EQ(request.work_dir, data_dir);
  EXPECT_EQ(request.timeout_ms, 300'000);
  EXPECT_EQ(request.output_limit, 1'000);
  EXPECT_EQ(request.limits.processes, 9);
  EXPECT_FALSE(request.keep_stdin);
  const std::string artifacts = data_dir + "/artifacts/task_1";
  EXPECT_EQ(request.env, (std::vector<std::string>{"ERRAND_ARTIFACTS=" + artifacts, "ERRAND_SESSION_ID=ses_1",
                                                   "ERRAND_TASK_ID=task_1", "MINE=yes", "PATH=/bin", "TERM=dumb"}));
  EXPECT_EQ(fs::status(artifacts).permissions(), fs::perms::owner_all);
}

TEST_F(CommandDriverTest, WordsAreNotGivenToAShellAndNoTimeoutMeansNone) {
  task.launch.argv = {"printf", "%s", "a b"};
  task.launch.timeout_ms = -1;
  auto turn = open();
  EXPECT_EQ(supervisor.runs.at(run).request.argv, task.launch.argv);
  EXPECT_EQ(supervisor.runs.at(run).request.timeout_ms, 0);
}

TEST_F(CommandDriverTest, AVariableThatIsNamedAndNotSetIsSaid) {
  task.launch.pass_env = {"NOT_SET"};
  auto turn = open();
  EXPECT_EQ(ear.all<report::Warning>().at(0).code, "env_missing");
}

TEST_F(CommandDriverTest, ARunThatTheSupervisorRefusesFails) {
  supervisor.spawn_fails = Error{Code::exhausted, "Too many processes.", {}};
  auto turn = open();
  EXPECT_EQ(outcome().error->code, "spawn_failed");
  EXPECT_EQ(outcome().error->message, "Too many processes.");
}

// --- output

TEST_F(CommandDriverTest, TheFirstOutputIsReportedAtOnceAndTheRestTwentyTimesASecond) {
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

TEST_F(CommandDriverTest, AfterAQuietWhileTheNextOutputIsReportedAtOnceAgain) {
  auto turn = open();
  supervisor.print(run, Stream::out, "a");
  pass(1'000);
  supervisor.print(run, Stream::out, "b");
  EXPECT_EQ(ear.text(), "ab");
  EXPECT_EQ(timers.size(), 1u);
  pass(1'000);
  EXPECT_EQ(timers.size(), 0u);  // Nobody polls.
}

TEST_F(CommandDriverTest, ACharacterInTwoPiecesIsShownWhole) {
  auto turn = open();
  supervisor.print(run, Stream::out, "\xf0\x9f");
  EXPECT_TRUE(ear.all<report::Output>().empty());
  pass(100);
  supervisor.print(run, Stream::out, "\x99\x82!");
  EXPECT_EQ(ear.text(), "🙂!");
  EXPECT_EQ(ear.all<report::Output>().at(0).offset, 0);
}

TEST_F(CommandDriverTest, OutputThatComesTooFastIsSkippedToItsNewest) {
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

TEST_F(CommandDriverTest, ALogThatCannotBeReadIsSaidAndTheExitStillCounts) {
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

// --- the end (R1.5, R9.4)

TEST_F(CommandDriverTest, ExitZeroCompletesWithTheTailOfTheOutput) {
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

TEST_F(CommandDriverTest, FailuresSayHowItWent) {
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

TEST_F(CommandDriverTest, TheTailsAreBoundedAndBeginAtALine) {
  test::FakeJournal journal;
  for (int i = 0; i < 5'000; ++i) {
    journal.print(Stream::out, "öutput line\n");
    journal.print(Stream::err, "ërror line\n");
  }
  const Tails tails = read_tails(journal);
  EXPECT_LE(tails.output.size(), result_tail_max);
  EXPECT_GT(tails.output.size(), result_tail_max - 20);
  EXPECT_TRUE(tails.output.starts_with("öutput") || tails.output.starts_with("ërror")) << tails.output.substr(0, 20);
  EXPECT_LE(tails.err.size(), stderr_tail_max);
  EXPECT_TRUE(tails.err.ends_with("ërror line\n"));
  EXPECT_TRUE(is_utf8(tails.err));
}

// --- restart (R2.2)

TEST_F(CommandDriverTest, ARunThatWasNeverStartedIsStarted) {
  auto turn = open(true);
  EXPECT_EQ(supervisor.calls, (std::vector<std::string>{"attach " + run, "spawn " + run}));
}

TEST_F(CommandDriverTest, ARunThatStartedAndIsGoneIsLostAndNotStartedTwice) {
  task.checkpoint = "17";
  auto turn = open(true);
  EXPECT_EQ(supervisor.calls, (std::vector<std::string>{"attach " + run, "stop " + run}));
  EXPECT_EQ(outcome().kind, Kind::lost);
}

TEST_F(CommandDriverTest, ARunThatIsStoppedBeforeItWasTakenUpIsNotStarted) {
  auto turn =
      *driver->open({.task = std::make_shared<Task>(task), .messages = {}, .history = {}, .reattach = true}, ear);
  turn->stop();
  pass(0);
  EXPECT_EQ(outcome().kind, Kind::stopped);
  EXPECT_EQ(supervisor.alive(), 0);
  EXPECT_TRUE(supervisor.runs.empty());
}

TEST_F(CommandDriverTest, ARunThatCannotBeReachedIsLost) {
  supervisor.attach_fails = Error{Code::unavailable, "No supervisor.", {}};
  auto turn = open(true);
  EXPECT_EQ(outcome().kind, Kind::lost);
  EXPECT_EQ(outcome().error->message, "No supervisor.");
}

TEST_F(CommandDriverTest, ADamagedCheckpointIsAnError) {
  task.checkpoint = "nonsense";
  EXPECT_FALSE(
      driver->open({.task = std::make_shared<Task>(task), .messages = {}, .history = {}, .reattach = true}, ear));
}

TEST_F(CommandDriverTest, OutputAndEndOfTheTimeWithoutAServerAreTakenUp) {
  auto turn = open();
  supervisor.print(run, Stream::out, "one ");
  task.checkpoint = ear.checkpoints.back();
  turn->detach();
  turn.reset();
  supervisor.print(run, Stream::out, "two ");
  supervisor.end(run, {.exit_code = 0});
  turn = open(true);
  EXPECT_EQ(ear.text(), "one two ");
  EXPECT_EQ(outcome().result, "one two ");
  EXPECT_TRUE(std::ranges::find(supervisor.calls, "stop " + run) == supervisor.calls.end());
}

TEST_F(CommandDriverTest, OutputThatWaitsToBeReportedIsNotReportedAfterDetach) {
  auto turn = open();
  supervisor.print(run, Stream::out, "reported");
  supervisor.print(run, Stream::out, "waits");
  turn->detach();
  pass(1'000);
  EXPECT_EQ(ear.text(), "reported");
  EXPECT_EQ(timers.size(), 0u);
}

// --- signs of life (R4.2)

TEST_F(CommandDriverTest, AProbeCountsOnlyWhereWorkWasDone) {
  auto turn = open();
  supervisor.used = {.cpu_s = 0.5, .memory_bytes = 100};
  turn->probe();
  pass(0);
  turn->probe();
  pass(0);
  EXPECT_EQ(ear.all<report::Resources>().size(), 1u);
  EXPECT_EQ(ear.all<report::Still>().size(), 1u) << "and says what it saw instead";
  supervisor.used.cpu_s = 0.6;
  turn->probe();
  pass(0);
  EXPECT_EQ(ear.all<report::Resources>().size(), 2u);
  supervisor.used.io_bytes = 10;
  turn->probe();
  pass(0);
  EXPECT_EQ(ear.all<report::Resources>().size(), 3u) << "reading and writing is work";
  turn->probe();
  turn.reset();  // The answer comes after the turn is gone.
  pass(0);
}

// --- lines to be told of

TEST_F(CommandDriverTest, AWatchedLineIsReportedOnceAlsoOverARestartInTheMiddleOfIt) {
  task.launch.notify_on = {"ready"};
  auto turn = open();
  supervisor.print(run, Stream::out, "starting\nserver is rea");
  pass(100);
  EXPECT_TRUE(ear.all<report::Match>().empty());
  turn->detach();
  task.checkpoint = ear.checkpoints.back();
  turn = open(true);
  supervisor.print(run, Stream::out, "dy\nand more\n");
  pass(100);
  ASSERT_EQ(ear.all<report::Match>().size(), 1u);
  EXPECT_EQ(ear.all<report::Match>()[0].line, "server is ready");
  turn->detach();
  task.checkpoint = ear.checkpoints.back();
  turn = open(true);
  supervisor.end(run, {});
  pass(100);
  EXPECT_EQ(ear.all<report::Match>().size(), 1u);
}

TEST_F(CommandDriverTest, AWatchedLineWithoutAnEndIsReportedWhenItIsQuiet) {
  task.launch.notify_on = {"Continue?"};
  auto turn = open();
  supervisor.print(run, Stream::err, "Continue? [y/n] ");
  pass(500);
  EXPECT_TRUE(ear.all<report::Match>().empty());
  pass(1'000);
  ASSERT_EQ(ear.all<report::Match>().size(), 1u);
  EXPECT_EQ(ear.all<report::Match>()[0].line, "Continue? [y/n] ");
}

TEST_F(CommandDriverTest, OutputThatIsNotLookedAtIsSaidOnce) {
  task.launch.notify_on = {"needle"};
  auto turn = open();
  supervisor.print(run, Stream::out, std::string(40 << 20, 'x') + "\nneedle\n");
  pass(100);
  const auto warnings = ear.all<report::Warning>();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].code, "watch_behind");
  EXPECT_EQ(ear.all<report::Match>().size(), 1u) << "the newest is looked at";
}

TEST_F(CommandDriverTest, WhatWouldAskAPersonIsRefusedUnlessTheLaunchSaysSo) {
  task.launch.command = "sudo apt install x";
  EXPECT_EQ(refused().reason, "interactive");
  EXPECT_TRUE(refused().message.contains("sudo -n")) << refused().message;
  task.launch.allow_interactive = true;
  EXPECT_TRUE(driver->check(task.launch));
  task.launch.notify_on = {"/(/"};
  EXPECT_EQ(refused().reason, "pattern");
}

// --- what stays and what goes

TEST_F(CommandDriverTest, ForgetReleasesTheTasksRunsAndArtifactsAndNoOthers) {
  auto turn = open();
  supervisor.end(run, {});
  supervisor.runs["task_1.2"].end = RunEnd{};
  supervisor.runs["task_10.1"];
  supervisor.runs["task_1.x"];
  std::ofstream(data_dir + "/artifacts/task_1/report.txt") << "x";
  fs::create_directories(data_dir + "/artifacts/task_10");
  driver->forget(task.id);
  pass(0);
  for (Work& work : background.works) work();
  EXPECT_FALSE(supervisor.runs.contains("task_1.2"));
  EXPECT_FALSE(supervisor.runs.contains(run));
  EXPECT_TRUE(supervisor.runs.contains("task_10.1"));
  EXPECT_TRUE(supervisor.runs.contains("task_1.x"));
  EXPECT_FALSE(fs::exists(data_dir + "/artifacts/task_1"));
  EXPECT_TRUE(fs::exists(data_dir + "/artifacts/task_10"));
}

TEST_F(CommandDriverTest, AnIdThatLeadsElsewhereRemovesNothing) {
  fs::create_directories(data_dir + "/artifacts");
  driver->forget(TaskId(".."));
  driver->forget(TaskId(""));
  driver->forget(TaskId("../artifacts"));
  pass(0);
  for (Work& work : background.works) work();
  EXPECT_TRUE(fs::exists(data_dir + "/artifacts"));
}

TEST_F(CommandDriverTest, KnowsTheRunsAndEndsThoseThatNobodyOwns) {
  supervisor.runs["task_7.2"];
  supervisor.runs["no-run"];
  std::vector<Driver::KnownRun> known;
  driver->known_runs([&](std::vector<Driver::KnownRun> runs) { known = std::move(runs); });
  pass(0);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].task, TaskId("task_7"));
  EXPECT_EQ(known[0].run, 2);
  EXPECT_TRUE(known[0].alive);
  driver->end_run(known[0].task, known[0].run);
  pass(0);
  EXPECT_EQ(supervisor.alive(), 1);  // The other one.
  EXPECT_TRUE(supervisor.runs.at("task_7.2").end);
}

TEST_F(CommandDriverTest, ArtifactsThatNoRunHasAreKnownToo) {
  supervisor.runs["task_7.2"];
  for (const char* name : {"task_7", "task_7.kept", "task_8.kept", "task_9", "other"})
    fs::create_directories(data_dir + "/artifacts/" + name);
  std::set<std::pair<std::string, int>> known;
  driver->known_runs([&](const std::vector<Driver::KnownRun>& runs) {
    for (const Driver::KnownRun& one : runs) known.insert({one.task.value, one.run});
  });
  pass(0);
  EXPECT_EQ(known, (std::set<std::pair<std::string, int>>{{"task_7", 2}, {"task_8", 0}, {"task_9", 0}}));
}

TEST_F(CommandDriverTest, AnEndTellsWhatWasLeft) {
  auto turn = open();
  std::ofstream(data_dir + "/artifacts/task_1/report.txt") << "well";
  supervisor.end(run, {});
  pass(0);
  ASSERT_TRUE(outcome().artifacts);
  EXPECT_EQ(outcome().artifacts->count, 1);
  EXPECT_EQ(outcome().artifacts->first.at(0).name, "report.txt");
  EXPECT_TRUE(fs::exists(data_dir + "/artifacts/task_1.kept/manifest.json"));
  task.state = TaskState::completed;
  EXPECT_EQ(driver->artifacts(task)->files.size(), 1u);
  EXPECT_TRUE(driver->open_artifact(task, "report.txt"));
}

TEST_F(CommandDriverTest, TheLogCanBeReadFromAnywhere) {
  auto turn = open();
  supervisor.print(run, Stream::out, "hello ");
  supervisor.print(run, Stream::err, "world");
  const LogRead whole = driver->read_log(task.id, 3, 0, 100).value();
  ASSERT_EQ(whole.pieces.size(), 2u);
  EXPECT_EQ(whole.pieces[1].stream, "stderr");
  EXPECT_EQ(whole.size, 11);
  EXPECT_EQ(driver->read_log(task.id, 3, -5, 100).value().pieces.at(0).bytes, "world");
  EXPECT_EQ(driver->read_log(task.id, 3, -500, 3).value().pieces.at(0).bytes, "hel");
  EXPECT_TRUE(driver->read_log(task.id, 3, 500, 3).value().pieces.empty());
  EXPECT_EQ(driver->read_log(task.id, 4, 0, 100).error().code, Code::not_found);
}

TEST_F(CommandDriverTest, AMessageThatCameWithARetryIsTaken) {
  Message message;
  message.id = MessageId("msg_1");
  auto turn = open(false, {message});
  EXPECT_EQ(ear.all<report::Taken>().at(0).message, message.id);
  EXPECT_EQ(turn->send(message).error().code, Code::unsupported);
}

}  // namespace
}  // namespace errand::command
