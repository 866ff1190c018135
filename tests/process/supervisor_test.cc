// The supervisor and its client together, with real processes: what a run's owner may rely on.
#include <filesystem>
#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "process/clock.h"
#include "process/run.h"
#include "process/tree.h"
#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;

TEST(Supervisor, RunsACommandAndTellsHowItEnded) {
  Bench bench;
  RunEnd end = bench.run_to_end(bench.shell("task_a.1", "echo out; echo err >&2; exit 3"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.output_bytes, 8);
  EXPECT_GT(end.cpu_s, 0);
  EXPECT_GT(end.max_memory_bytes, 0);
  EXPECT_GE(end.ended_at, end.started_at);
  EXPECT_EQ(bench.printed("task_a.1", Stream::out), "out\n");
  EXPECT_EQ(bench.printed("task_a.1", Stream::err), "err\n");
  EXPECT_EQ(read_text(log_file(bench.folder.path(), "task_a.1")).size(), 8u);
}

TEST(Supervisor, TellsTheSignalThatEndedARun) {
  Bench bench;
  RunEnd end = bench.run_to_end(bench.shell("task_a.1", "kill -SEGV $$"));
  EXPECT_EQ(end.how, How::signalled);
  EXPECT_EQ(end.signal, SIGSEGV);
}

// R9.1: no terminal, empty input, its own session, default signals, nothing inherited.
TEST(Supervisor, GivesTheChildACleanStart) {
  Bench bench;
  bench.run_to_end(bench.shell("task_a.1",
                               "cat; pwd; env | sort; ls -l /proc/self/fd | grep -c -e '-> /' -e pipe; "
                               "(: < /dev/tty) 2>/dev/null || echo no terminal; "
                               "grep -e ^SigBlk -e ^SigIgn /proc/self/status; ulimit -c; umask"));
  std::string text = bench.printed("task_a.1");
  EXPECT_NE(text.find("no terminal\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SigBlk:\t0000000000000000\n"), std::string::npos) << text;
  // All but the two that the C library keeps for itself.
  size_t ignored = text.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << text;
  EXPECT_EQ(std::stoull(text.substr(ignored + 8, 16), nullptr, 16) & ~0x180000000ull, 0u);
  EXPECT_NE(text.find("/\nERRAND_RUN="), std::string::npos) << text;
  // 0, 1, 2 and the folder that ls itself has open.
  EXPECT_NE(text.find("\n4\nno terminal"), std::string::npos) << text;
}

TEST(Supervisor, StopsWithTermAndTellsSo) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.1", "echo hi; sleep 1000"), run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  bench.client().stop("task_a.1");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::stopped);
  EXPECT_EQ(run.end->signal, SIGTERM);
  EXPECT_EQ(run.ends, 1);
  EXPECT_EQ(bench.printed("task_a.1"), "hi\n");
}

TEST(Supervisor, KillsAfterTheGraceTime) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.1", "trap '' TERM; echo hi; while :; do sleep 0.05; done"), run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  int64_t before = steady_ms();
  bench.client().stop("task_a.1", 300);
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::stopped);
  EXPECT_EQ(run.end->signal, SIGKILL);
  EXPECT_GE(steady_ms() - before, 290);
}

TEST(Supervisor, EndsARunAtItsDeadlineByItself) {
  Bench bench;
  SpawnRequest request = bench.shell("task_a.1", "sleep 1000");
  request.timeout_ms = 200;
  int64_t before = steady_ms();
  RunEnd end = bench.run_to_end(request);
  EXPECT_EQ(end.how, How::timeout);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_GE(steady_ms() - before, 190);
}

// A command that handles SIGTERM well is still one that was stopped, and its exit code is told.
TEST(Supervisor, AStoppedRunThatExitsCleanlyIsStillStopped) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.1", "trap 'exit 0' TERM; echo hi; while :; do sleep 0.05; done"), run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  bench.client().stop("task_a.1");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::stopped);
  EXPECT_EQ(run.end->exit_code, 0);
  EXPECT_EQ(run.end->signal, 0);
}

// T21, R2.2: the server goes, the work stays, and another server takes it up with its output whole.
TEST(Supervisor, ANewClientTakesARunUpWithAllItsOutput) {
  Bench bench;
  TestFolder flags;
  {
    RecordedRun run;
    ASSERT_TRUE(bench.spawn(
        bench.shell("task_a.1", "echo one; while [ ! -e " + flags.path() + "/go ]; do sleep 0.02; done; echo two"),
        run));
    ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
    bench.client().forget(&run);
  }
  bench.reconnect();
  RecordedRun run;
  ASSERT_TRUE(bench.attach("task_a.1", run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  EXPECT_EQ(run.totals.front(), 4);
  std::ofstream(flags.path() + "/go") << "go";
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::exited);
  EXPECT_EQ(bench.printed("task_a.1"), "one\ntwo\n");
}

TEST(Supervisor, ARunThatEndedMeanwhileIsToldOnAttach) {
  Bench bench;
  bench.run_to_end(bench.shell("task_a.1", "echo hi; exit 9"));
  bench.reconnect();
  RecordedRun run;
  ASSERT_TRUE(bench.attach("task_a.1", run));
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->exit_code, 9);
  EXPECT_EQ(run.totals, std::vector<int64_t>{3});
}

TEST(Supervisor, AttachToARunThatNeverStartedIsNotFound) {
  Bench bench;
  RecordedRun run;
  const Result<Attached> status = bench.attach("task_a.1", run);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::not_found);
}

// P3: the witness is made with O_EXCL, so a second start would fail and say so.
TEST(Supervisor, SpawningARunTwiceRunsItOnce) {
  Bench bench;
  TestFolder flags;
  SpawnRequest request = bench.shell("task_a.1", "set -C; : > " + flags.path() + "/witness || exit 99; sleep 0.2");
  RecordedRun first, second, third;
  std::optional<Status> a, b;
  bench.client().spawn(request, &first, [&a](Status status) { a = status; });
  bench.client().spawn(request, &second, [&b](Status status) { b = status; });
  ASSERT_TRUE(bench.executor.until([&] { return a && b; }));
  EXPECT_TRUE(*a && *b);
  ASSERT_TRUE(bench.wait_end(second));
  EXPECT_EQ(second.end->exit_code, 0);
  ASSERT_TRUE(bench.spawn(request, third));
  ASSERT_TRUE(bench.wait_end(third));
  EXPECT_EQ(third.end->exit_code, 0) << "a third spawn must return the run that ended";
  EXPECT_EQ(bench.list().size(), 1u);
}

TEST(Supervisor, ReleaseRemovesAnEndedRunAndStopsALiveOne) {
  Bench bench;
  bench.run_to_end(bench.shell("task_a.1", "echo hi"));
  RecordedRun live;
  ASSERT_TRUE(bench.spawn(bench.shell("task_b.1", "sleep 1000"), live));
  bench.client().release("task_a.1");
  bench.client().release("task_b.1");
  ASSERT_TRUE(bench.wait_end(live));
  EXPECT_EQ(live.end->how, How::stopped);
  EXPECT_TRUE(bench.executor.until([&] { return std::filesystem::is_empty(bench.folder.path() + "/run"); }));
}

TEST(Supervisor, ListsLiveAndEndedRuns) {
  Bench bench;
  bench.run_to_end(bench.shell("task_a.1", "echo hi; exit 4"));
  RecordedRun live;
  ASSERT_TRUE(bench.spawn(bench.shell("task_b.2", "echo live; sleep 1000"), live));
  ASSERT_TRUE(bench.executor.until([&live] { return !live.totals.empty(); }));
  auto runs = bench.list();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run, "task_a.1");
  EXPECT_FALSE(runs[0].alive);
  ASSERT_TRUE(runs[0].end.has_value());
  EXPECT_EQ(runs[0].end->exit_code, 4);
  EXPECT_EQ(runs[0].output_bytes, 3);
  EXPECT_EQ(runs[1].run, "task_b.2");
  EXPECT_TRUE(runs[1].alive);
  EXPECT_EQ(runs[1].output_bytes, 5);
}

TEST(Supervisor, UsageSumsTheWholeTree) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.1",
                                      "sleep 1000 & sleep 1000 & i=0; while [ $i -lt 200000 ]; do i=$((i+1)); "
                                      "done; echo ready; wait"),
                          run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  std::optional<Result<RunUsage>> usage;
  bench.client().usage("task_a.1", [&usage](Result<RunUsage> value) { usage = value; });
  ASSERT_TRUE(bench.executor.until([&usage] { return usage.has_value(); }));
  ASSERT_TRUE(usage->has_value());
  EXPECT_EQ((*usage)->processes, 3);
  EXPECT_GT((*usage)->cpu_s, 0);
  EXPECT_GT((*usage)->memory_bytes, 0);
  EXPECT_GT((*usage)->io_bytes, 0);
  EXPECT_EQ((*usage)->states.size(), 3u) << (*usage)->states;
}

}  // namespace
}  // namespace errand::process
