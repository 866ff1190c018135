// T14, P7, R1.6: whatever a command leaves behind, and however its run ends, nothing of it survives, and the end is
// told truthfully.
#include "process/tree.h"

#include <algorithm>
#include <signal.h>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;
constexpr Millis survive_ms = 5'000;

enum class Ending { finish, stop, timeout, server_killed, supervisor_killed, keeper_killed };

const char* const shapes[] = {"child", "background", "setsid", "double_fork", "ignores_term", "daemon", "pipe_head"};
const char* const endings[] = {"finish", "stop", "timeout", "server_killed", "supervisor_killed", "keeper_killed"};

class Orphans : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  std::string shape() const { return shapes[std::get<0>(GetParam())]; }
  Ending ending() const { return static_cast<Ending>(std::get<1>(GetParam())); }
  bool ready() const { return bench_.printed("task_t.1").find("ready\n") != std::string::npos; }

  // A server of its own that starts the run and is killed: this process only looks on.
  void spawn_from_a_server_that_is_killed(const SpawnRequest& request) {
    pid_t server = ::fork();
    if (server == 0) {
      PumpedExecutor executor;
      RecordedRun run;
      auto client = connect_supervisor({bench_.folder.path(), test_supervisor()}, executor);
      if (!client) ::_exit(1);
      (*client)->spawn(request, &run, [](Status) {});
      executor.until([] { return false; }, 60'000);
      ::_exit(1);
    }
    EXPECT_TRUE(bench_.executor.until([this] { return ready(); }));
    ::kill(server, SIGKILL);
    ::waitpid(server, nullptr, 0);
  }

  Bench bench_;
};

TEST_P(Orphans, NothingOfTheTreeSurvives) {
  const std::string marker = new_marker();
  SpawnRequest request =
      bench_.command("task_t.1", {misbehave(), shape(), ending() == Ending::finish ? "finish" : "stay", marker});
  request.grace_ms = 300;
  if (ending() == Ending::timeout) request.timeout_ms = 1'000;
  const pid_t supervisor = bench_.supervisor_pid();

  RecordedRun run;
  if (ending() == Ending::server_killed) {
    spawn_from_a_server_that_is_killed(request);
    EXPECT_FALSE(processes_with(marker).empty()) << "the work must go on without its server";
    ASSERT_TRUE(bench_.attach("task_t.1", run));
    bench_.client().stop("task_t.1");
  } else {
    ASSERT_TRUE(bench_.spawn(request, run));
    ASSERT_TRUE(bench_.executor.until([this] { return ready(); }));
    if (ending() == Ending::stop) bench_.client().stop("task_t.1");
    if (ending() == Ending::supervisor_killed) ::kill(supervisor, SIGKILL);
    if (ending() == Ending::keeper_killed) {
      std::vector<pid_t> keepers = children_of(supervisor);
      ASSERT_EQ(keepers.size(), 1u);
      ::kill(keepers[0], SIGKILL);
    }
  }

  ASSERT_TRUE(bench_.wait_end(run, survive_ms));
  EXPECT_EQ(processes_with(marker), std::vector<pid_t>{}) << "the end was told while something was alive";
  EXPECT_TRUE(ready()) << "the output is whole";
  if (ending() != Ending::supervisor_killed) {
    EXPECT_TRUE(bench_.executor.until([supervisor] { return zombies_of(supervisor) == 0; }, survive_ms));
  }
  EXPECT_EQ(run.ends, 1);

  const bool patient = shape() == "ignores_term";
  switch (ending()) {
    case Ending::finish:
      EXPECT_EQ(run.end->how, How::exited);
      EXPECT_EQ(run.end->exit_code, 7);
      break;
    case Ending::stop:
    case Ending::server_killed:
      EXPECT_EQ(run.end->how, How::stopped);
      EXPECT_EQ(run.end->signal, patient ? SIGKILL : SIGTERM);
      break;
    case Ending::timeout:
      EXPECT_EQ(run.end->how, How::timeout);
      EXPECT_EQ(run.end->signal, patient ? SIGKILL : SIGTERM);
      break;
    case Ending::supervisor_killed:
    case Ending::keeper_killed:
      EXPECT_EQ(run.end->how, How::lost);
      EXPECT_FALSE(run.end->text.empty());
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(T14, Orphans, testing::Combine(testing::Range(0, 7), testing::Range(0, 6)),
                         [](const auto& info) {
                           return std::string(shapes[std::get<0>(info.param)]) + "_" + endings[std::get<1>(info.param)];
                         });

// The one case that neither keeper nor supervisor can see: both die at once. The marker in the environment finds it.
TEST(Tree, WhatLostKeeperAndSupervisorAtOnceIsFoundByTheNextSupervisor) {
  Bench bench;
  const std::string marker = new_marker();
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.command("task_t.1", {misbehave(), "background", "stay", marker}), run));
  ASSERT_TRUE(bench.executor.until([&] { return bench.printed("task_t.1") == "ready\n"; }));
  pid_t supervisor = bench.supervisor_pid();
  pid_t keeper = children_of(supervisor).at(0);
  ::kill(supervisor, SIGSTOP);  // So that it cannot see its keeper die.
  ::kill(keeper, SIGKILL);
  ::kill(supervisor, SIGKILL);
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::lost);
  EXPECT_TRUE(bench.executor.until([&] { return processes_with(marker).empty(); }, survive_ms));
}

TEST(Tree, TheSupervisorEndsEverythingWhenItIsAskedToLeave) {
  Bench bench;
  const std::string marker = new_marker();
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.command("task_t.1", {misbehave(), "setsid", "stay", marker}), run));
  ASSERT_TRUE(bench.executor.until([&] { return bench.printed("task_t.1") == "ready\n"; }));
  ::kill(bench.supervisor_pid(), SIGTERM);
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::stopped);
  EXPECT_TRUE(processes_with(marker).empty());
}

TEST(Tree, SaysHowManyWereLeftBehind) {
  Bench bench;
  RunEnd end = bench.run_to_end(bench.shell("task_t.1", "sleep 1000 & sleep 1000 & exit 0"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.text, "2 processes that it left behind were ended.");
}

// T13 in small: each of the limits ends the whole tree and is named.
TEST(Tree, LimitsEndTheRunAndAreNamed) {
  Bench bench;
  struct Case {
    const char* script;
    RunLimits limits;
    const char* word;
  } cases[] = {{"while :; do :; done", {.cpu_s = 1}, "CPU time"},
               {"for i in 1 2 3 4 5 6; do sleep 1000 & done; wait", {.processes = 4}, "processes"},
               {"x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 1000", {.memory_bytes = 30'000'000}, "memory"}};
  int number = 0;
  for (const Case& one : cases) {
    SpawnRequest request = bench.shell("task_l." + std::to_string(++number), one.script);
    request.limits = one.limits;
    // A second of CPU time, however little of the machine it gets.
    request.timeout_ms = 240'000;
    RunEnd end = bench.run_to_end(request, 250'000);
    EXPECT_EQ(end.how, How::limit) << one.word << ": " << end.text;
    EXPECT_NE(end.text.find(one.word), std::string::npos) << end.text;
    // Of CPU time the kernel may be quicker, where the keeper gets none of the machine for two seconds.
    EXPECT_TRUE(end.signal == SIGKILL || (end.signal == SIGXCPU && one.limits.cpu_s > 0)) << end.signal;
  }
}

// As on a machine that is so busy that the keeper does not get to look: the kernel's limit stands behind it.
TEST(Tree, ALimitOfCpuTimeHoldsAndIsNamedWhereTheKeeperIsHeldUp) {
  Bench bench;
  SpawnRequest request = bench.shell(
      "task_l.1",
      "keeper=$PPID; (while [ \"$(cut -d' ' -f3 /proc/$$/stat)\" != Z ]; do sleep 0.05; done; kill -CONT $keeper) & "
      "kill -STOP $keeper; while :; do :; done");
  request.limits.cpu_s = 1;
  request.timeout_ms = 240'000;
  const RunEnd end = bench.run_to_end(request, 250'000);
  EXPECT_EQ(end.how, How::limit) << end.text;
  EXPECT_NE(end.text.find("CPU time"), std::string::npos) << end.text;
  EXPECT_EQ(end.signal, SIGXCPU);
}

TEST(Tree, OpenFilesAndNiceAreTheChildsOwn) {
  Bench bench;
  SpawnRequest request = bench.shell("task_l.1", "ulimit -n; nice");
  request.limits.open_files = 77;
  // Nicer than we are: who is not root may not go back.
  request.limits.nice = std::min(19, ::getpriority(PRIO_PROCESS, 0) + 5);
  bench.run_to_end(request);
  EXPECT_EQ(bench.printed("task_l.1"), "77\n" + std::to_string(request.limits.nice) + "\n");
}

}  // namespace
}  // namespace errand::process
