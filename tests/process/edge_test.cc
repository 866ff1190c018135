// What goes wrong: programs that cannot be started, hostile names, damaged folders, lost connections, full backlogs.
#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "process/clock.h"
#include "process/fd.h"
#include "process/protocol.h"
#include "process/run.h"
#include "process/tree.h"
#include "tests/process/harness.h"

namespace errand::process {
namespace {

using How = RunEnd::How;

void write_file(const std::string& path, const std::string& text, mode_t mode = 0644) {
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), mode);
}

// R1.5: each with a text that says what to do.
TEST(Edge, EveryKindOfFailureToStartIsExplained) {
  Bench bench;
  TestFolder files;
  write_file(files.path() + "/plain", "#!/bin/sh\n", 0644);
  write_file(files.path() + "/no_interpreter", "#!/nowhere/sh\n", 0755);
  write_file(files.path() + "/garbage", "neither script nor program", 0755);
  struct Case {
    std::string program, work_dir, says;
  } cases[] = {{"no-such-program-anywhere", "/", "was not found in PATH (/usr/local/bin:/usr/bin:/bin)"},
               {"/no/such/program", "/", "does not exist"},
               {files.path() + "/plain", "/", "chmod +x"},
               {files.path(), "/", "is a folder"},
               {files.path() + "/no_interpreter", "/", "interpreter"},
               {files.path() + "/garbage", "/", "#!/bin/sh"},
               {files.path() + "/plain/below", "/", "not a folder"},
               {"/bin/true", "/no/such/folder", "does not exist; create it"},
               {"/bin/true", files.path() + "/plain", "is not a folder"}};
  int number = 0;
  for (const Case& one : cases) {
    SpawnRequest request = bench.command("task_f." + std::to_string(++number), {one.program});
    request.work_dir = one.work_dir;
    RunEnd end = bench.run_to_end(request);
    EXPECT_EQ(end.how, How::spawn_failed) << one.program;
    EXPECT_NE(end.text.find(one.says), std::string::npos) << end.text;
  }
  SpawnRequest huge = bench.command("task_f.99", {"/bin/true", std::string(4u << 20, 'x')});
  RunEnd end = bench.run_to_end(huge);
  EXPECT_EQ(end.how, How::spawn_failed);
  EXPECT_NE(end.text.find("too long"), std::string::npos) << end.text;
}

TEST(Edge, HostileRequestsAreRefusedAndMakeNothing) {
  Bench bench;
  for (std::string name :
       {"", ".", "..", "a", "a.", ".1", "../../etc.1", "a/b.1", "a.1/..", "a.b", "a.1.2", "a-b.1", "a b.1"}) {
    RecordedRun run;
    EXPECT_FALSE(bench.spawn(bench.command(name, {"/bin/true"}), run)) << name;
    EXPECT_FALSE(bench.attach(name, run)) << name;
  }
  RecordedRun run;
  EXPECT_FALSE(bench.spawn(bench.command(std::string(300, 'a') + ".1", {"/bin/true"}), run));
  EXPECT_FALSE(bench.spawn(bench.command("task_h.1", {}), run));
  EXPECT_FALSE(bench.spawn(bench.command("task_h.1", {"/bin/true", std::string("a\0b", 3)}), run));
  SpawnRequest request = bench.command("task_h.1", {"/bin/true"});
  request.work_dir = "relative";
  EXPECT_FALSE(bench.spawn(request, run));
  request.work_dir = "/";
  request.env = {"NOVALUE"};
  EXPECT_FALSE(bench.spawn(request, run));
  Status status = bench.spawn(bench.command("task_h.1", {"/bin/true", std::string(17u << 20, 'x')}), run);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::too_large);
  EXPECT_TRUE(std::filesystem::is_empty(bench.folder.path() + "/run"));
}

// Bytes that are no frames cost a stranger its connection, and nobody else anything.
TEST(Edge, GarbageOnTheSocketHurtsNobody) {
  Bench bench;
  Fd folder(::open(bench.folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  const std::string garbage[] = {std::string("\xff\xff\xff\xff", 4),
                                 std::string("\x06\0\0\0\xff\xff\xff\xff\xff\xff", 10), std::string(100'000, 'x'),
                                 FrameOut().add("op", "no such thing").take(),
                                 FrameOut().add("op", "input").add("run", "task_x.1").add("number", "x").take()};
  for (const std::string& bytes : garbage) {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address = socket_address(folder.get());
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  EXPECT_EQ(bench.run_to_end(bench.shell("task_g.1", "exit 5")).exit_code, 5);
}

TEST(Edge, TheSocketAndTheFoldersAreTheUsersOwn) {
  Bench bench;
  bench.run_to_end(bench.shell("task_p.1", "echo secret"));
  struct stat info{};
  for (const char* name : {"/supervisor.sock", "/supervisor.log", "/run/task_p.1/log", "/run/task_p.1/index"}) {
    ASSERT_EQ(::stat((bench.folder.path() + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  ASSERT_EQ(::stat((bench.folder.path() + "/run/task_p.1").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST(Edge, InputIsWrittenInOrderAndOnce) {
  Bench bench;
  SpawnRequest request = bench.command("task_i.1", {"/bin/cat"});
  request.keep_stdin = true;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(request, run));
  EXPECT_TRUE(bench.input("task_i.1", 1, "one\n"));
  EXPECT_TRUE(bench.input("task_i.1", 2, "two\n"));
  const Result<int64_t> twice = bench.input("task_i.1", 2, "other\n");
  ASSERT_FALSE(twice) << "a number that was taken is refused";
  EXPECT_EQ(twice.error().reason, input_taken);
  EXPECT_FALSE(bench.input("task_i.1", 4, "four\n")) << "a gap is refused";
  bench.reconnect();
  RecordedRun again;
  const Result<Attached> attached = bench.attach("task_i.1", again);
  ASSERT_TRUE(attached);
  EXPECT_EQ(attached->input_taken, 2) << "whoever takes it up knows where to go on";
  EXPECT_EQ(bench.input("task_i.1", 0, ""), 2) << "0 asks, of an older supervisor too";
  EXPECT_EQ(bench.input("task_i.1", 3, "three\n"), 3);
  bench.client().close_input("task_i.1");
  ASSERT_TRUE(bench.wait_end(again));
  EXPECT_EQ(again.end->how, How::exited);
  EXPECT_EQ(bench.printed("task_i.1"), "one\ntwo\nthree\n");
}

TEST(Edge, InputBeyondTheBacklogIsRefusedUntilItIsRead) {
  Bench bench;
  TestFolder flags;
  SpawnRequest request = bench.shell("task_i.1", "while [ ! -e " + flags.path() + "/go ]; do sleep 0.02; done; wc -c");
  request.keep_stdin = true;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(request, run));
  const std::string big(6u << 20, 'x');
  EXPECT_TRUE(bench.input("task_i.1", 1, big));
  const Result<int64_t> refused = bench.input("task_i.1", 2, big);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::exhausted);
  write_file(flags.path() + "/go", "go");
  ASSERT_TRUE(bench.executor.until([&] { return bench.input("task_i.1", 2, big).has_value(); }));
  bench.client().close_input("task_i.1");
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(bench.printed("task_i.1"), std::to_string(2 * big.size()) + "\n");
}

TEST(Edge, ARunWithoutInputRefusesItWithAReason) {
  Bench bench;
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.shell("task_i.1", "sleep 1000"), run));
  const Result<int64_t> status = bench.input("task_i.1", 1, "hello");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::conflict);
}

// The supervisor dies in the middle: its runs are lost, and the client goes on with a new one by itself.
TEST(Edge, AfterTheSupervisorsDeathTheClientGoesOn) {
  Bench bench;
  RecordedRun lost;
  ASSERT_TRUE(bench.spawn(bench.shell("task_a.1", "echo before; sleep 1000"), lost));
  ASSERT_TRUE(bench.executor.until([&lost] { return !lost.totals.empty(); }));
  ::kill(bench.supervisor_pid(), SIGKILL);
  RecordedRun next;
  std::optional<Status> answer;  // Asked while there is no connection.
  bench.client().spawn(bench.shell("task_b.1", "echo after"), &next, [&answer](Status status) { answer = status; });
  ASSERT_TRUE(bench.wait_end(next));
  EXPECT_TRUE(answer && *answer);
  EXPECT_EQ(next.end->how, How::exited);
  ASSERT_TRUE(bench.wait_end(lost));
  EXPECT_EQ(lost.end->how, How::lost);
  EXPECT_EQ(lost.end->output_bytes, 7);
  EXPECT_EQ(bench.printed("task_a.1"), "before\n");
  RecordedRun again;
  ASSERT_TRUE(bench.attach("task_a.1", again));
  ASSERT_TRUE(bench.wait_end(again));
  EXPECT_EQ(again.end->how, How::lost) << "and it stays so";
}

// A torn end is no end: the run is lost, never something that it was not.
TEST(Edge, DamagedFoldersAreToldAsLost) {
  Bench bench;
  const std::string runs = bench.folder.path() + "/run/";
  RunEnd end;
  end.exit_code = 3;
  const std::string whole = encode_end(end);
  int number = 10;
  for (size_t size : {size_t{0}, size_t{1}, size_t{8}, whole.size() / 2, whole.size() - 1}) {
    std::string run = "task_d." + std::to_string(++number);
    std::filesystem::create_directory(runs + run);
    write_file(runs + run + "/index", std::string(end_place, '\xff') + whole.substr(0, size));
    write_file(runs + run + "/log", "x");
    RecordedRun told;
    ASSERT_TRUE(bench.attach(run, told)) << run;
    ASSERT_TRUE(bench.wait_end(told)) << run;
    EXPECT_EQ(told.end->how, How::lost);
  }
  // Every flipped bit of a whole one.
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(decode_end(flipped)) << i;
  }
  EXPECT_EQ(decode_end(whole + "garbage behind it")->exit_code, 3);
}

// A keeper of a dead supervisor still ends its tree: until it lets go, the run has not ended.
TEST(Edge, ALockedFolderWaitsForItsKeeper) {
  Bench bench;
  const std::string folder = bench.folder.path() + "/run/task_k.1";
  std::filesystem::create_directory(folder);
  Fd keeper(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(keeper.get(), LOCK_EX), 0);
  RecordedRun run;
  ASSERT_TRUE(bench.attach("task_k.1", run));
  EXPECT_FALSE(bench.wait_end(run, 200));
  keeper.reset();
  ASSERT_TRUE(bench.wait_end(run));
  EXPECT_EQ(run.end->how, How::lost);
}

TEST(Edge, ARunWhoseFolderIsDeletedEndsAllTheSame) {
  for (bool keeper_killed : {false, true}) {
    Bench bench;
    const std::string marker = new_marker();
    RecordedRun run;
    ASSERT_TRUE(bench.spawn(bench.shell("task_a.1", "echo begun; exec sleep 1000 # " + marker), run));
    ASSERT_TRUE(bench.executor.until([&run] { return !run.totals.empty(); }));
    std::filesystem::remove_all(bench.folder.path() + "/run/task_a.1");
    if (keeper_killed) {
      const std::vector<pid_t> keepers = children_of(bench.supervisor_pid());
      ASSERT_EQ(keepers.size(), 1u);
      ::kill(keepers[0], SIGKILL);
    } else {
      bench.client().stop("task_a.1");
    }
    ASSERT_TRUE(bench.wait_end(run)) << "nobody can read its end any more, and it has ended";
    EXPECT_EQ(run.end->how, keeper_killed ? How::lost : How::stopped);
    EXPECT_TRUE(bench.executor.until([&bench] { return children_of(bench.supervisor_pid()).empty(); }));
  }
}

TEST(Edge, TwoHundredRunsLeaveNoDescriptorAndNoZombie) {
  Bench bench;
  bench.run_to_end(bench.shell("task_w.1", "echo warm"));
  pid_t supervisor = bench.supervisor_pid();
  bench.executor.until([supervisor] { return children_of(supervisor).empty(); });
  const int before = open_descriptors(supervisor), own = open_descriptors(::getpid());
  std::vector<std::unique_ptr<RecordedRun>> runs;
  for (int i = 0; i < 200; ++i) {
    SpawnRequest request = bench.shell("task_n." + std::to_string(i), "echo $$; echo err >&2");
    request.keep_stdin = i % 2 == 0;
    runs.push_back(std::make_unique<RecordedRun>());
    bench.client().spawn(request, runs.back().get(), [](Status) {});
    if (i % 16 == 15) {
      ASSERT_TRUE(bench.wait_end(*runs[static_cast<size_t>(i)]));
    }
  }
  for (auto& run : runs) ASSERT_TRUE(bench.wait_end(*run));
  ASSERT_TRUE(bench.executor.until([&] { return children_of(supervisor).empty(); })) << "zombies or keepers are left";
  // The look itself has a connection, which the supervisor may still have open.
  EXPECT_TRUE(bench.executor.until([&] { return open_descriptors(supervisor) <= before; }))
      << open_descriptors(supervisor) << " > " << before;
  EXPECT_EQ(open_descriptors(::getpid()), own);
}

// Any socket, pipe or lock of the supervisor's would stay open in it for as long as a disk takes to remove a folder.
TEST(Edge, WhoeverRemovesFoldersHoldsThemAlone) {
  Bench bench;
  const pid_t supervisor = bench.supervisor_pid();
  const std::string runs = bench.folder.path() + "/run";
  const auto holds_folders_alone = [&runs](pid_t pid) {
    std::error_code error;
    std::vector<std::string> held;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error))
      if (std::stoi(entry.path().filename()) > STDERR_FILENO)
        held.push_back(std::filesystem::read_symlink(entry.path(), error));
    // The folder of all runs, and for most of the time the one that it empties.
    return !held.empty() && std::ranges::all_of(held, [&runs](const std::string& at) { return at.starts_with(runs); });
  };
  const auto names_run = [&](const std::string& run) {
    for (const auto& entry : std::filesystem::directory_iterator(runs))
      if (entry.path().filename().string().contains(run)) return true;
    return false;
  };
  bool seen = false;
  for (int round = 1; round <= 20 && !seen; ++round) {
    const std::string run = "task_r." + std::to_string(round);
    bench.run_to_end(bench.shell(run, "true"));
    // So many files that their removal can be watched.
    for (int i = 0; i < 3'000; ++i) write_file(run_folder(bench.folder.path(), run) + "/" + std::to_string(i), "");
    bench.client().release(run);
    ASSERT_TRUE(bench.executor.until([&] {
      seen = std::ranges::any_of(children_of(supervisor), holds_folders_alone);
      return seen || !names_run(run);
    }));
  }
  EXPECT_TRUE(seen);
}

// W4: 4 MiB at most.
TEST(Edge, TheSupervisorIsSmall) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's memory is not ours";
#endif
#endif
  Bench bench;
  for (int i = 0; i < 10; ++i)
    bench.run_to_end(bench.shell("task_m." + std::to_string(i), "head -c 3000000 /dev/zero"));
  ProcessStat stat;
  ASSERT_TRUE(read_stat(bench.supervisor_pid(), stat));
  EXPECT_LE(stat.resident_bytes, 4 << 20);
}

TEST(Edge, OneSupervisorADataFolder) {
  Bench bench;
  pid_t first = bench.supervisor_pid();
  std::string command = test_supervisor() + " supervisor --data-dir " + bench.folder.path();
  EXPECT_EQ(std::system(command.c_str()), 0) << "a second one leaves at once";
  EXPECT_EQ(bench.supervisor_pid(), first);
}

// The supervisor is asked to leave while it still ends a run: what is asked meanwhile is done by the next one.
TEST(Edge, WhatIsAskedOfALeavingSupervisorIsDoneByTheNext) {
  Bench bench;
  RecordedRun slow, next;
  SpawnRequest request = bench.shell("task_a.1", "trap 'echo told' TERM; echo hi; while :; do sleep 0.02; done");
  request.grace_ms = 2'000;  // Time to be told, also on a machine that is held up.
  ASSERT_TRUE(bench.spawn(request, slow));
  ASSERT_TRUE(bench.executor.until([&slow] { return !slow.totals.empty(); }));
  pid_t first = bench.supervisor_pid();
  ::kill(first, SIGTERM);
  ASSERT_TRUE(bench.executor.until([&] { return bench.printed("task_a.1").starts_with("hi\ntold\n"); }));
  ASSERT_TRUE(bench.spawn(bench.shell("task_b.1", "exit 8"), next));
  ASSERT_TRUE(bench.wait_end(next) && bench.wait_end(slow));
  EXPECT_EQ(slow.end->how, How::stopped);
  EXPECT_EQ(next.end->exit_code, 8);
  EXPECT_NE(bench.supervisor_pid(), first);
}

// R2.3: the server forgot a run whose supervisor was killed; releasing it ends what is left of it.
TEST(Edge, ReleasingAnAbandonedRunEndsWhatItLeft) {
  Bench bench;
  const std::string marker = new_marker();
  RecordedRun run;
  ASSERT_TRUE(bench.spawn(bench.command("task_a.1", {misbehave(), "background", "stay", marker}), run));
  ASSERT_TRUE(bench.executor.until([&] { return bench.printed("task_a.1") == "ready\n"; }));
  bench.client().forget(&run);
  pid_t supervisor = bench.supervisor_pid();
  pid_t keeper = children_of(supervisor).at(0);
  bench.disconnect();
  ::kill(supervisor, SIGSTOP);
  ::kill(keeper, SIGKILL);
  ::kill(supervisor, SIGKILL);
  EXPECT_FALSE(processes_with(marker).empty());
  bench.reconnect();
  bench.client().release("task_a.1");
  EXPECT_TRUE(bench.executor.until(
      [&] { return processes_with(marker).empty() && std::filesystem::is_empty(bench.folder.path() + "/run"); }));
}

class Alone : public testing::Test {
 protected:
  pid_t start(const std::string& options) {
    std::string command = test_supervisor() + " supervisor --data-dir " + folder_.path() + " " + options + " & echo $!";
    FILE* pipe = ::popen(command.c_str(), "r");
    int pid = 0;
    if (std::fscanf(pipe, "%d", &pid) != 1) pid = 0;
    ::pclose(pipe);
    // It has written that it started; its socket may be gone again where this process was held up.
    EXPECT_TRUE(executor_.until([this] { return !read_text(folder_.path() + "/supervisor.log").empty(); }));
    return pid;
  }
  // A server starts a run that stays, in a session of its own, and goes.
  void leave_a_run(const std::string& marker) {
    auto client = connect_supervisor({folder_.path(), test_supervisor()}, executor_);
    ASSERT_TRUE(client);
    RecordedRun run;
    SpawnRequest request;
    request.run = "task_o.1";
    request.argv = {misbehave(), "setsid", "stay", marker};
    request.work_dir = "/";
    bool started = false;
    (*client)->spawn(request, &run, [&started](Status status) { started = status.has_value(); });
    ASSERT_TRUE(executor_.until([&started] { return started; }));
  }
  static bool gone(pid_t pid) {
    ProcessStat stat;
    return !read_stat(pid, stat) || stat.state == 'Z';
  }
  TestFolder folder_;
  PumpedExecutor executor_;
};

TEST_F(Alone, WithoutRunsAndServerItLeaves) {
  pid_t pid = start("--idle-ms 100");
  EXPECT_TRUE(executor_.until([pid] { return gone(pid); }, 5'000));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/supervisor.sock"));
}

TEST_F(Alone, WithAServerItStays) {
  pid_t pid = start("--idle-ms 1000");
  auto client = connect_supervisor({folder_.path(), test_supervisor()}, executor_);
  ASSERT_TRUE(client);
  EXPECT_FALSE(executor_.until([pid] { return gone(pid); }, 1'500));
  client->reset();
  EXPECT_TRUE(executor_.until([pid] { return gone(pid); }, 5'000));
}

TEST_F(Alone, WithoutAServerForTooLongItEndsEverything) {
  const std::string marker = new_marker();
  pid_t pid = start("--idle-ms 10000 --orphan-ms 300");
  ASSERT_NO_FATAL_FAILURE(leave_a_run(marker));
  EXPECT_TRUE(executor_.until([pid] { return gone(pid); }, 10'000));
  EXPECT_TRUE(processes_with(marker).empty());
  Fd folder(::open((folder_.path() + "/run/task_o.1").c_str(), O_RDONLY | O_DIRECTORY));
  auto end = read_end(folder.get());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->how, How::stopped);
}

// A server that comes again and again and cannot start asks for nothing: what runs is as alone as before.
TEST_F(Alone, StartsThatFailNeitherBeginItsTimeAnewNorChangeIt) {
  const std::string marker = new_marker();
  pid_t pid = start("--idle-ms 10000 --orphan-ms 2000");
  ASSERT_NO_FATAL_FAILURE(leave_a_run(marker));
  int failed_starts = 0;
  for (; !processes_with(marker).empty() && failed_starts < 100; ++failed_starts) {
    for (const Millis orphan_ms : {1, 3'600'000}) {
      auto client = connect_supervisor({folder_.path(), test_supervisor(), orphan_ms}, executor_);
      ASSERT_TRUE(client);
    }
    executor_.until([pid] { return gone(pid); }, 100);
  }
  EXPECT_GT(failed_starts, 5) << "it was not ended early";
  EXPECT_LT(failed_starts, 100) << "but in its time";
  EXPECT_TRUE(executor_.until([pid] { return gone(pid); }, 10'000));
}

// An upgrade: the old one serves what it has; when that is gone, the new one takes over by itself.
TEST_F(Alone, OneOfAnotherBuildIsReplacedWhenItHasNoRuns) {
  std::string other = folder_.path() + "/older";
  std::filesystem::copy_file(test_supervisor(), other);
  auto old_client = connect_supervisor({folder_.path(), other}, executor_);
  ASSERT_TRUE(old_client);
  RecordedRun run;
  SpawnRequest request;
  request.run = "task_u.1";
  request.argv = {"/bin/sleep", "1000"};
  request.work_dir = "/";
  bool started = false;
  (*old_client)->spawn(request, &run, [&started](Status status) { started = status.has_value(); });
  ASSERT_TRUE(executor_.until([&started] { return started; }));
  (*old_client)->forget(&run);
  old_client->reset();

  auto client = connect_supervisor({folder_.path(), test_supervisor()}, executor_);
  ASSERT_TRUE(client);
  RecordedRun same;
  (*client)->attach("task_u.1", &same, [](const Result<Attached>&) {});
  (*client)->stop("task_u.1");
  ASSERT_TRUE(executor_.until([&same] { return same.end.has_value(); }));
  EXPECT_EQ(same.end->how, How::stopped) << "the old one served its run to the end";
  RecordedRun next;
  request.run = "task_u.2";
  request.argv = {"/bin/true"};
  (*client)->spawn(request, &next, [](Status) {});
  ASSERT_TRUE(executor_.until([&next] { return next.end.has_value(); }));
  EXPECT_EQ(next.end->how, How::exited);
  EXPECT_TRUE(executor_.until([this] {
    return read_text(folder_.path() + "/supervisor.log").find("replaced by a newer one") != std::string::npos;
  }));
}

}  // namespace
}  // namespace errand::process
