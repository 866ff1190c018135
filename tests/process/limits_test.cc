// T13: bombs are ended before they hurt, whole, and named. With a control group where this machine has one, and
// without.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "process/clock.h"
#include "process/tree.h"
#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;
constexpr int64_t mebibyte = 1 << 20;
constexpr double cleared_ms = 2'000;

// Sanitizers make everything slow; the promise about time is about errand.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr double patience = 5;
#else
constexpr double patience = 1;
#endif
#else
constexpr double patience = 1;
#endif

class Limits : public testing::TestWithParam<bool> {
 protected:
  // Whether the supervisor may use control groups is its own to find out, so the test hides them from it.
  Limits() : bench(GetParam() ? Groups::found : Groups::hidden) {}
  void SetUp() override {
    if (GetParam() && !bench.client().abilities().cgroup)
      GTEST_SKIP() << "1 skipped: no control group here: " << bench.client().abilities().cgroup_text;
    EXPECT_TRUE(GetParam() || !bench.client().abilities().cgroup);
  }
  RunEnd bomb(std::vector<std::string> argv, RunLimits limits) {
    SpawnRequest request = bench.command("task_b.1", std::move(argv));
    request.limits = limits;
    request.timeout_ms = 240'000;
    RecordedRun run;
    EXPECT_TRUE(bench.spawn(request, run));
    // On a machine that others use, a second of CPU time can take minutes.
    EXPECT_TRUE(bench.wait_end(run, 230'000));
    bench.client().forget(&run);
    return run.end.value_or(RunEnd{});
  }
  RunEnd shell(const std::string& script, RunLimits limits) { return bomb({"/bin/sh", "-c", script, marker}, limits); }

  const std::string marker = new_marker();
  Bench bench;
};

TEST_P(Limits, AForkBombIsEndedWhole) {
  const double busy = slowdown();
  const int64_t began = steady_ms();
  RunEnd end = bomb({misbehave(), "bomb", "stay", marker}, {.processes = 64});
  EXPECT_LT(static_cast<double>(steady_ms() - began), cleared_ms * patience * std::max(busy, slowdown()));
  EXPECT_EQ(end.how, How::limit) << end.text;
  EXPECT_EQ(end.limit, "processes");
  EXPECT_EQ(end.limit_value, 64);
  EXPECT_GT(end.limit_seen, 64);
  EXPECT_TRUE(processes_with(marker).empty()) << "the end was told while something was alive";
}

// The one that process groups do not hold: every process has its own session.
TEST_P(Limits, AForkBombThatLeavesItsSessionIsEndedWhole) {
  RunEnd end = bomb({misbehave(), "bomb_sessions", "stay", marker}, {.processes = 64});
  EXPECT_EQ(end.limit, "processes") << end.text;
  EXPECT_TRUE(processes_with(marker).empty());
}

TEST_P(Limits, AMemoryBombIsEndedSoonAfterItsLimit) {
  const double busy = slowdown();
  const int64_t began = steady_ms();
  RunEnd end = shell("exec head -c 8G /dev/zero | tail", {.memory_bytes = 300 * mebibyte});
  EXPECT_EQ(end.how, How::limit) << end.text;
  EXPECT_EQ(end.limit, "memory");
  EXPECT_LT(static_cast<double>(steady_ms() - began), 10 * cleared_ms * patience * std::max(busy, slowdown()));
  // How far it came depends on how fast the machine hands out memory; never far.
  EXPECT_LT(end.limit_seen, 900 * mebibyte);
}

// What many processes share is there once.
TEST_P(Limits, SharedMemoryCountsOnce) {
  SpawnRequest request = bench.command("task_b.1", {misbehave(), "share", "finish", marker});
  request.limits.memory_bytes = 200 * mebibyte;  // 100 MiB, seen by eight.
  RunEnd end = bench.run_to_end(request);
  EXPECT_EQ(end.how, How::exited) << end.text;
  EXPECT_EQ(end.exit_code, 7);
}

TEST_P(Limits, CpuTimeOfTheWholeTreeCounts) {
  RunEnd end = shell("while :; do :; done & while :; do :; done", {.cpu_s = 1});
  EXPECT_EQ(end.limit, "cpu") << end.text;
  EXPECT_GE(end.limit_seen, 1);
  EXPECT_GE(end.cpu_s, 0.9);
  EXPECT_LT(end.cpu_s, 4);
}

TEST_P(Limits, AFileBombMeetsTheKernelAndHarmsOnlyItself) {
  RunEnd end = bomb({misbehave(), "files", "stay", marker}, {.open_files = 64});
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(bench.printed("task_b.1"), "64: Too many open files\n");
}

TEST_P(Limits, WhatStaysUnderItsLimitsIsLeftAlone) {
  RunEnd end = shell("for i in 1 2 3 4 5; do sleep 0.3 & done; head -c 20000000 /dev/zero | tail -c 1 | wc -c; wait",
                     {.cpu_s = 20, .memory_bytes = 200 * mebibyte, .processes = 20, .open_files = 100});
  EXPECT_EQ(end.how, How::exited) << end.text;
  EXPECT_EQ(bench.printed("task_b.1"), "1\n");
  EXPECT_TRUE(end.limit.empty());
}

// R4.1: told while it runs, and not where nothing happens.
TEST_P(Limits, WhatARunUsesIsToldAsItMoves) {
  RecordedRun busy, idle;
  ASSERT_TRUE(bench.spawn(bench.shell("task_b.1", "while :; do :; done"), busy));
  ASSERT_TRUE(bench.spawn(bench.shell("task_b.2", "exec sleep 1000"), idle));
  ASSERT_TRUE(bench.executor.until([&] { return busy.usages.size() >= 2; }));
  EXPECT_GT(busy.usages[1].cpu_s, busy.usages[0].cpu_s);
  EXPECT_GT(busy.usages[1].memory_bytes, 0);
  EXPECT_LE(idle.usages.size(), 1u);
  bench.client().stop("task_b.1");
  bench.client().stop("task_b.2");
  ASSERT_TRUE(bench.wait_end(busy));
  ASSERT_TRUE(bench.wait_end(idle));
}

INSTANTIATE_TEST_SUITE_P(T13, Limits, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "control_group" : "without"; });

// R9.1: there is nobody at the keyboard.
TEST(NoTerminal, ThereIsNoTerminalAndNoInput) {
  Bench bench;
  bench.run_to_end(bench.shell("task_n.1",
                               "tty; (: </dev/tty) 2>/dev/null && echo terminal; read line && echo input; echo $?; "
                               "ps -o tty= -p $$ 2>/dev/null || echo '?'; wc -c"));
  EXPECT_EQ(bench.printed("task_n.1", Stream::out), "not a tty\n1\n?\n0\n");
}

TEST(ChildSetup, HasItsUmaskNoCoreFileAndGoesBeforeErrandWhenMemoryIsShort) {
  Bench bench;
  SpawnRequest request = bench.shell("task_n.1", "umask; ulimit -c; cat /proc/self/oom_score_adj");
  bench.run_to_end(request);
  EXPECT_EQ(bench.printed("task_n.1"), "0022\n0\n500\n");
  request.run = "task_n.2";
  request.umask = 077;
  bench.run_to_end(request);
  EXPECT_EQ(bench.printed("task_n.2").substr(0, 5), "0077\n");
}

// A busy user is not stopped by a count of all that the user has: the ceiling is far above it.
TEST(ChildSetup, TheCeilingOfProcessesLeavesRoomForOthers) {
  Bench bench;
  SpawnRequest request = bench.shell(
      "task_n.1",
      "sed -n 's/^Max processes *\\([0-9]*\\).*/\\1/p' /proc/self/limits; cut -d' ' -f4 /proc/loadavg | cut -d/ -f2");
  request.limits.processes = 4;
  bench.run_to_end(request);
  long long ceiling = 0, all = 0;
  ASSERT_EQ(std::sscanf(bench.printed("task_n.1").c_str(), "%lld %lld", &ceiling, &all), 2)
      << bench.printed("task_n.1");
  rlimit own{};
  ::getrlimit(RLIMIT_NPROC, &own);
  EXPECT_GE(ceiling,
            std::min<long long>(all + 4'000, static_cast<long long>(std::min<rlim_t>(own.rlim_max, 1LL << 40))));
}

}  // namespace
}  // namespace errand::process
