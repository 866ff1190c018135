// What a run prints, on its way through the supervisor.
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "process/clock.h"
#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;

// T12: a flood is bounded on disk, told at most 20 times a second, and hinders nobody else.
TEST(Output, AFloodIsBoundedAndHindersNobody) {
  Bench bench;
  SpawnRequest request = bench.shell("task_f.1", "head -c 300000000 /dev/zero; echo the end");
  request.output_limit = 8 << 20;
  RecordedRun flood;
  int64_t before = steady_ms();
  ASSERT_TRUE(bench.spawn(request, flood));
  EXPECT_EQ(bench.run_to_end(bench.shell("task_o.1", "exit 6")).exit_code, 6) << "another run beside it";
  ASSERT_TRUE(bench.wait_end(flood, 60'000));
  int64_t took = std::max<int64_t>(steady_ms() - before, 1);
  RecordProperty("mb_per_s", std::to_string(300'000 / took));
  EXPECT_EQ(flood.end->how, How::exited);
  EXPECT_EQ(flood.end->output_bytes, 300'000'008);
  EXPECT_LE(static_cast<int64_t>(flood.totals.size()), took / 50 + 3);
  EXPECT_EQ(flood.totals.back(), 300'000'008);
  struct stat info{};
  ASSERT_EQ(::stat(log_file(bench.folder.path(), "task_f.1").c_str(), &info), 0);
  EXPECT_LE(info.st_blocks * 512, (8 << 20) + (64 << 10));
  std::string text = read_text(log_file(bench.folder.path(), "task_f.1"));
  EXPECT_EQ(text.substr(text.size() - 8), "the end\n");
}

TEST(Output, TheFirstWordAfterASilenceIsToldAtOnce) {
  Bench bench;
  TestFolder flags;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_q.1", "while [ ! -e " + flags.path() +
                                                      "/go ]; do sleep 0.01; done; echo hi; "
                                                      "while [ -e " +
                                                      flags.path() + "/go ]; do sleep 0.01; done"),
                          run));
  std::ofstream(flags.path() + "/go") << "go";
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  EXPECT_FALSE(run.end) << "told while the run goes on, not with its end";
}

TEST(Output, AProtocolThatNobodyReadsIsPausedAndLosesNothing) {
  Bench bench;
  SpawnRequest request = bench.shell("task_p.1", "head -c 100000000 /dev/zero; echo done >&2");
  request.mode = JournalMode::protocol;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(request, run));
  // It stands at its bound, and the child waits.
  auto standing = [&] { return !run.totals.empty() && run.totals.back() >= protocol_bound; };
  ASSERT_TRUE(bench.executor.until(standing));
  EXPECT_FALSE(bench.wait_end(run, 200));
  EXPECT_LT(run.totals.back(), protocol_bound + (2 << 20));
  auto journal = Journal::open(run_folder(bench.folder.path(), "task_p.1"));
  ASSERT_TRUE(journal);
  int64_t taken = 0;
  std::string err;
  auto drained = [&] {
    auto read = (*journal)->read(taken, 4 << 20);
    if (!read) return false;
    EXPECT_EQ(read->cut, 0);
    for (const Piece& piece : read->pieces)
      if (piece.stream == Stream::err) err += piece.bytes;
    if (read->next > taken) bench.client().release_journal("task_p.1", taken = read->next);
    return run.end && taken == run.end->output_bytes;
  };
  ASSERT_TRUE(bench.executor.until(drained, 60'000));
  EXPECT_EQ(run.end->output_bytes, 100'000'005);
  EXPECT_EQ(err, "done\n");
}

// Somebody outside the tree holds the pipe: the run ends nevertheless.
TEST(Output, APipeHeldFromOutsideDoesNotHoldTheEnd) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_h.1", "echo $$; while :; do sleep 0.05; done"), run));
  ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
  std::string pid = bench.printed("task_h.1");
  std::ofstream outside("/proc/" + pid.substr(0, pid.size() - 1) + "/fd/1");
  ASSERT_TRUE(outside.good());
  bench.client().stop("task_h.1");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::stopped);
}

}  // namespace
}  // namespace errand::process
