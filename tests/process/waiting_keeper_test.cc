// A keeper whose run is over waits a moment and takes the next one: as good as a new one, or not used at all.
#include <dirent.h>
#include <signal.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "process/clock.h"
#include "process/tree.h"
#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;

// The one keeper that there is while nothing runs; 0: none.
pid_t waiting_keeper(const Bench& bench) {
  const std::vector<pid_t> keepers = children_of(bench.supervisor_pid());
  EXPECT_LE(keepers.size(), 1u);
  return keepers.empty() ? 0 : keepers[0];
}

// What the run prints: the pid of its keeper (the parent of its main child).
SpawnRequest who(const Bench& bench, const std::string& run) { return bench.shell(run, "echo $PPID"); }

pid_t keeper_of(Bench& bench, const std::string& run) {
  EXPECT_EQ(bench.run_to_end(who(bench, run)).how, How::exited);
  return std::atoi(bench.printed(run).c_str());
}

TEST(WaitingKeeper, TakesTheNextRun) {
  Bench bench;
  const pid_t first = keeper_of(bench, "task_a.1");
  EXPECT_EQ(waiting_keeper(bench), first);
  EXPECT_EQ(keeper_of(bench, "task_a.2"), first);
  EXPECT_TRUE(bench.executor.until([&] { return waiting_keeper(bench) == 0; }, 10'000)) << "it does not wait for ever";
  EXPECT_NE(keeper_of(bench, "task_a.3"), first);
}

TEST(WaitingKeeper, GivesEachRunWhatIsItsOwn) {
  Bench bench;
  TestFolder folder;
  SpawnRequest first = bench.shell("task_a.1", "pwd; umask; echo $A; ulimit -n; cat; exit 3");
  first.env.push_back("A=first");
  first.umask = 0;
  first.limits.open_files = 50;
  const RunEnd one = bench.run_to_end(first);
  EXPECT_EQ(one.exit_code, 3);
  const pid_t keeper = waiting_keeper(bench);
  ASSERT_GT(keeper, 0);

  SpawnRequest second = bench.shell("task_a.2", "pwd; umask; echo \"<$A>\"; ulimit -n; cat; echo err >&2; kill -9 $$");
  second.work_dir = folder.path();
  second.keep_stdin = true;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(second, run));
  ASSERT_TRUE(bench.input("task_a.2", 1, "to the second\n"));
  bench.client().close_input("task_a.2");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::signalled);
  EXPECT_EQ(run.end->signal, SIGKILL);
  EXPECT_EQ(run.end->exit_code, 0);
  EXPECT_EQ(bench.printed("task_a.2"), folder.path() + "\n0022\n<>\n4096\nto the second\nerr\n");
  EXPECT_EQ(waiting_keeper(bench), keeper);
}

// A folder is dear: an empty one is the next run's.
TEST(WaitingKeeper, HandsAnEmptyFolderForArtifactsOn) {
  Bench bench;
  const std::string place = bench.folder.path() + "/artifacts";
  const auto end_of = [&](const std::string& run, const std::string& script) {
    SpawnRequest request = bench.shell(run, script);
    request.artifacts = place + "/" + run.substr(0, run.find('.'));
    request.env.push_back("MINE=" + request.artifacts);
    return bench.run_to_end(request);
  };
  const auto inode = [&](const std::string& run) { return std::atoi(bench.printed(run).c_str()); };
  EXPECT_TRUE(end_of("task_a.1", "stat -c %i $MINE").left_nothing) << "the folder above it is made, too";
  EXPECT_NE(::access((place + "/task_a").c_str(), F_OK), 0) << "an empty one goes";
  EXPECT_TRUE(end_of("task_b.1", "stat -c %i $MINE; stat -c %a $MINE").left_nothing);
  EXPECT_EQ(inode("task_b.1"), inode("task_a.1"));
  EXPECT_TRUE(bench.printed("task_b.1").ends_with("\n700\n"));

  EXPECT_FALSE(end_of("task_c.1", "echo x > $MINE/file; chmod 755 $MINE").left_nothing);
  EXPECT_EQ(read_text(place + "/task_c/file"), "x\n");
  EXPECT_FALSE(end_of("task_c.2", "cat $MINE/file; stat -c %a $MINE").left_nothing);
  EXPECT_EQ(bench.printed("task_c.2"), "x\n700\n") << "a further run has what the last one left";
  EXPECT_TRUE(end_of("task_c.3", "rm $MINE/file").left_nothing);
  EXPECT_TRUE(end_of("task_d.1", "rmdir $MINE").left_nothing);
  EXPECT_FALSE(end_of("task_e.1", "rmdir $MINE; echo x > $MINE").left_nothing)
      << "a file in its place is not emptiness";
  RecordedRun refused;
  SpawnRequest request = bench.shell("task_e.2", "true");
  request.artifacts = place + "/task_e";
  EXPECT_FALSE(bench.spawn(request, refused)) << "nothing runs without it";
  EXPECT_TRUE(end_of("task_f.1", "exit 3").left_nothing);
  // None is left behind when the last keeper goes.
  EXPECT_TRUE(bench.executor.until([&] { return waiting_keeper(bench) == 0; }, 10'000));
  DIR* const folder = ::opendir(place.c_str());
  ASSERT_NE(folder, nullptr);
  while (const dirent* entry = ::readdir(folder)) EXPECT_FALSE(std::string_view(entry->d_name).starts_with(".spare"));
  ::closedir(folder);
}

TEST(WaitingKeeper, IsNotUsedAgainWhereItHadToEndSomething) {
  Bench bench;
  const pid_t first = keeper_of(bench, "task_a.1");
  bench.run_to_end(bench.shell("task_a.2", "sleep 1000 & exit 0"));
  EXPECT_NE(keeper_of(bench, "task_a.3"), first);
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.4", "exec sleep 1000"), run));
  bench.client().stop("task_a.4");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_TRUE(bench.executor.until([&] { return waiting_keeper(bench) == 0; }, 1'000)) << "it left at once";
}

TEST(WaitingKeeper, IsNotMissedWhereItIsKilled) {
  Bench bench;
  for (int i = 1; i < 20; ++i) {
    const pid_t keeper = keeper_of(bench, "task_a." + std::to_string(i));
    ASSERT_GT(keeper, 0);
    ::kill(keeper, i % 2 == 0 ? SIGKILL : SIGTERM);
    // The supervisor may learn of it before or after the next run is asked for; whoever has taken a run has started it.
    if (i % 3 == 0) ASSERT_TRUE(bench.executor.until([&] { return waiting_keeper(bench) != keeper; }));
    RecordedRun run;
    const Status started = bench.spawn(who(bench, "task_b." + std::to_string(i)), run);
    if (started)
      ASSERT_TRUE(bench.wait_end(run));
    else
      EXPECT_NE(started.error().message.find("nothing was started"), std::string::npos) << started.error().message;
  }
}

TEST(WaitingKeeper, GoesWithItsSupervisor) {
  Bench bench;
  const pid_t keeper = keeper_of(bench, "task_a.1");
  ::kill(bench.supervisor_pid(), SIGKILL);
  ProcessStat stat;
  EXPECT_TRUE(bench.executor.until([&] { return !read_stat(keeper, stat) || stat.state == 'Z'; }, 5'000));
}

// The supervisor writes the end of a run that printed nothing by itself; one that printed is its keeper's to record.
TEST(WaitingKeeper, OfASilentRunTheEndIsThereWhoeverDies) {
  Bench bench;
  RunEnd ends[4];
  for (int i = 0; i < 4; ++i) {
    const std::string script = i % 2 == 0 ? "exit 7" : "echo printed; exit 8";
    ends[i] = bench.run_to_end(bench.shell("task_a." + std::to_string(i + 1), script));
    EXPECT_EQ(ends[i].exit_code, 7 + i % 2);
    EXPECT_GT(ends[i].started_at.ms, 0);
    EXPECT_GE(ends[i].ended_at.ms, ends[i].started_at.ms);
  }
  ASSERT_GT(waiting_keeper(bench), 0);
  ::kill(bench.supervisor_pid(), SIGKILL);
  for (int i = 0; i < 4; ++i) {
    RecordedRun again;
    ASSERT_TRUE(bench.attach("task_a." + std::to_string(i + 1), again));
    ASSERT_TRUE(bench.wait_end(again));
    EXPECT_EQ(again.end->how, How::exited);
    EXPECT_EQ(again.end->exit_code, ends[i].exit_code);
    EXPECT_EQ(again.end->started_at, ends[i].started_at);
  }
}

// Nobody would store it: it is on disk as any other.
TEST(WaitingKeeper, ASilentRunThatNoServerHearsIsRecordedToo) {
  Bench bench;
  TestFolder folder;
  RecordedRun run;
  ASSERT_TRUE(
      bench.spawn(bench.shell("task_a.1", "until [ -e " + folder.path() + "/go ]; do sleep 0.01; done; exit 7"), run));
  bench.disconnect();
  ASSERT_EQ(::mkdir((folder.path() + "/go").c_str(), 0700), 0);
  bench.reconnect();
  RecordedRun again;
  ASSERT_TRUE(bench.attach("task_a.1", again));
  ASSERT_TRUE(bench.wait_end(again));
  EXPECT_EQ(again.end->exit_code, 7);
}

// The order to stop may cross the report that all is gone; the next run must not be lost with it.
TEST(WaitingKeeper, AStopThatComesTooLateCostsNobodyTheNextRun) {
  Bench bench;
  for (int i = 1; i <= 300; ++i) {
    const std::string name = "task_a." + std::to_string(i);
    RecordedRun run;
    std::optional<Status> answer;
    bench.client().spawn(bench.command(name, {"/bin/true"}), &run, [&answer](Status status) { answer = status; });
    // The answer to a short run comes with its end: the stops before are spread over its life.
    const int64_t until = steady_ms() + i % 4;
    bench.executor.until([&] { return steady_ms() >= until || run.end; });
    bench.client().stop(name);
    ASSERT_TRUE(bench.wait_end(run, 30'000)) << "run " << i;
    EXPECT_TRUE(answer && *answer);
  }
}

TEST(WaitingKeeper, DoesNotTakeWhatIsTooLongForAPacket) {
  Bench bench;
  const pid_t first = keeper_of(bench, "task_a.1");
  SpawnRequest big = who(bench, "task_a.2");
  big.env.push_back("BIG=" + std::string(100'000, 'x'));
  EXPECT_EQ(bench.run_to_end(big).how, How::exited);
  EXPECT_NE(std::atoi(bench.printed("task_a.2").c_str()), first);
}

}  // namespace
}  // namespace errand::process
