#include "driver/command/command_driver.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text.h"
#include "driver/command/command_bench_test.h"

namespace errand::command {
namespace {

namespace fs = std::filesystem;
using process::RunEnd;
using process::Stream;
using test::FakeSupervisor;
using Kind = Outcome::Kind;
using How = RunEnd::How;

// --- before it starts

TEST_F(CommandDriverTest, ChecksWhatCannotBeRun) {
  EXPECT_TRUE(checked());
  task.launch.command = " \n";
  EXPECT_EQ(refused().code, Code::invalid_argument);
  task.launch.command = std::string("a\0b", 3);
  EXPECT_EQ(refused().message, "The command has a NUL byte in it; remove it.");
  task.launch.command = std::string(200'000, 'x');
  EXPECT_EQ(refused().code, Code::too_large);
  task.launch.argv = {"echo", "fine"};
  EXPECT_TRUE(checked());
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
  EXPECT_NE(refused().message.find("\"strict\" is not available here: bubblewrap is not installed; install it."),
            std::string::npos)
      << refused().message;
}

TEST_F(CommandDriverTest, ASandboxedCommandIsStartedInItsSandbox) {
  supervisor.can = {.known = true, .bwrap = "/usr/bin/bwrap"};
  task.launch.sandbox = Sandbox::workspace;
  EXPECT_EQ(refused().reason, "sandbox_folder") << "its work dir is errand's own folder";
  task.launch.work_dir = data_dir + "-work";
  fs::create_directory(task.launch.work_dir);
  EXPECT_TRUE(checked());
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
    EXPECT_TRUE(checked()) << folder;
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

TEST_F(CommandDriverTest, WhatWouldAskAPersonIsRefusedUnlessTheLaunchSaysSo) {
  task.launch.command = "sudo apt install x";
  EXPECT_EQ(refused().reason, "interactive");
  EXPECT_TRUE(refused().message.contains("sudo -n")) << refused().message;
  task.launch.allow_interactive = true;
  EXPECT_TRUE(checked());
  task.launch.notify_on = {"/(/"};
  EXPECT_EQ(refused().reason, "pattern");
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
  turn.reset();
  supervisor.print(run, Stream::out, "two ");
  supervisor.end(run, {.exit_code = 0});
  turn = open(true);
  EXPECT_EQ(ear.text(), "one two ");
  EXPECT_EQ(outcome().result, "one two ");
  EXPECT_TRUE(std::ranges::find(supervisor.calls, "stop " + run) == supervisor.calls.end());
}

TEST_F(CommandDriverTest, OutputThatWaitsToBeReportedIsNotReportedWhenTheServerHasLeft) {
  auto turn = open();
  supervisor.print(run, Stream::out, "reported");
  supervisor.print(run, Stream::out, "waits");
  turn.reset();
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

// It comes late, and what it counts may have been used before a probe saw nothing.
TEST_F(CommandDriverTest, WhatIsToldOfItsUseIsNoSignOfLifeAndHidesNone) {
  auto turn = open();
  supervisor.used = {.cpu_s = 0.5, .memory_bytes = 100};
  turn->probe();
  pass(0);
  supervisor.tell_use(run, {.cpu_s = 0.7, .memory_bytes = 200});
  pass(0);
  ASSERT_EQ(ear.all<report::Resources>().size(), 2u);
  EXPECT_TRUE(ear.all<report::Resources>()[0].just_now);
  EXPECT_FALSE(ear.all<report::Resources>()[1].just_now);
  EXPECT_EQ(ear.all<report::Resources>()[1].cpu_s, 0.7);
  turn->probe();
  pass(0);
  EXPECT_EQ(ear.all<report::Still>().size(), 1u);
  supervisor.used.cpu_s = 0.6;
  turn->probe();
  pass(0);
  ASSERT_EQ(ear.all<report::Resources>().size(), 3u);
  EXPECT_TRUE(ear.all<report::Resources>()[2].just_now);
  EXPECT_EQ(ear.all<report::Resources>()[2].cpu_s, 0.7) << "totals do not go back";
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

// Decision 26.
TEST_F(CommandDriverTest, ARunWithoutAFolderIsBegunAgainOnlyInTheSameBoot) {
  EXPECT_EQ(driver->first_mark(), "") << "where the boot is not known,";
  {
    const auto turn = open();
  }
  EXPECT_FALSE(supervisor.runs.at(run).request.boot_stored) << "the folder is synced";

  options.boot = "31e1-ab";
  make_driver();
  task.checkpoint = driver->first_mark();
  const auto taken_up_in = [&](const std::string& boot) {
    supervisor.runs.clear();
    ear.outcomes.clear();
    options.boot = boot;
    make_driver();
    const auto turn = open(true);
    return supervisor.runs.contains(run);
  };
  EXPECT_TRUE(taken_up_in("31e1-ab"));
  EXPECT_TRUE(supervisor.runs.at(run).request.boot_stored);
  EXPECT_TRUE(ear.outcomes.empty());
  for (const char* other : {"77aa-01", ""}) {
    EXPECT_FALSE(taken_up_in(other));
    EXPECT_EQ(outcome().kind, Outcome::Kind::lost);
    EXPECT_EQ(outcome().error->code, "interrupted");
  }
  task.checkpoint.clear();
  EXPECT_TRUE(taken_up_in("77aa-01")) << "of an older server, which synced it";
  EXPECT_FALSE(supervisor.runs.at(run).request.boot_stored);
}

TEST_F(CommandDriverTest, AnOlderSupervisorMakesNoFolderForArtifacts) {
  const fs::path folders = fs::path(data_dir) / "artifacts";
  auto turn = open();
  EXPECT_TRUE(fs::is_directory(folders / "task_1"));
  EXPECT_TRUE(supervisor.runs.at(run).request.artifacts.empty());
  supervisor.end(run, {});
  pass(0);
  EXPECT_FALSE(fs::exists(folders / "task_1")) << "it stayed empty";
  EXPECT_EQ(outcome().artifacts->count, 0);
}

TEST_F(CommandDriverTest, AKeeperThatMakesTheFolderForArtifactsIsBelievedWhatItSawInIt) {
  const fs::path mine = fs::path(data_dir) / "artifacts/task_1";
  supervisor.can.artifacts = true;
  task.run = 1;
  const auto left = [&](bool nothing) {
    ear.outcomes.clear();
    auto turn = open();
    const std::string name = "task_1." + std::to_string(task.run);
    EXPECT_EQ(supervisor.runs.at(name).request.artifacts, mine);
    EXPECT_FALSE(fs::exists(mine)) << "it is not made twice";
    fs::create_directories(mine);
    std::ofstream(mine / "report.txt") << "here";
    supervisor.end(name, {.left_nothing = nothing});
    pass(0);
    supervisor.runs.clear();
    fs::remove_all(mine);
    return outcome().artifacts->count;
  };
  EXPECT_EQ(left(true), 0) << "nobody looks again";
  EXPECT_EQ(left(false), 1);
  task.run = 2;
  EXPECT_EQ(left(true), 1) << "what an earlier run left counts";
}

TEST_F(CommandDriverTest, WithPatternsTheFolderForArtifactsStaysUntilFilesAreGathered) {
  supervisor.can.artifacts = true;
  task.launch.artifacts = {"*.bin"};
  auto turn = open();
  EXPECT_EQ(supervisor.runs.at(run).request.artifacts, "") << "a keeper would remove it where it is empty";
  EXPECT_TRUE(fs::exists(fs::path(data_dir) / "artifacts" / task.id.value));
}

TEST_F(CommandDriverTest, WhatKilledKeepersLeftBesideArtifactsGoes) {
  const fs::path folders = fs::path(data_dir) / "artifacts";
  fs::create_directories(folders / ".spare.3");
  fs::create_directories(folders / ".spare.4/inside");
  fs::create_directories(folders / "task_9");
  std::vector<std::string> known;
  driver->known_runs([&](const std::vector<Driver::KnownRun>& runs) {
    for (const Driver::KnownRun& one : runs) known.push_back(one.task.value);
  });
  pass(0);
  EXPECT_EQ(known, std::vector<std::string>{"task_9"});
  EXPECT_FALSE(fs::exists(folders / ".spare.3"));
  EXPECT_TRUE(fs::exists(folders / ".spare.4/inside")) << "it is somebody's";
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
