// Commands for real: the contract, and what only real processes show, over a supervisor of its own.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <signal.h>

#include "base/text.h"
#include "base/timers.h"
#include "driver/command/command_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/process/harness.h"

namespace errand::test {
namespace {

using Kind = Outcome::Kind;

class RealCommandWorld final : public DriverWorld {
 public:
  RealCommandWorld() { make_driver(); }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_.reset();
    if (meanwhile) meanwhile();
    bench_.reconnect();
    make_driver();
  }
  bool run_until(const std::function<bool()>& done) override {
    return bench_.executor.until([&] {
      timers_.run_due();
      return done();
    });
  }
  // All that the supervisor said before its answer was heard, and the pauses between two reports are over.
  void settle() override {
    bench_.list();
    run_until([&] { return timers_.size() == 0; });
    bench_.list();
  }
  int left_behind() override {
    return static_cast<int>(std::ranges::count_if(bench_.list(), [](const auto& run) { return run.alive; }));
  }
  bool outlives_server() override { return true; }

  Launch command(std::string text) {
    Launch launch;
    launch.kind = TaskKind::command;
    launch.command = std::move(text);
    launch.work_dir = bench_.folder.path();
    return launch;
  }
  // One stream only: how two interleave is the kernel's business, and differs from time to time. Each piece waits until
  // the one before it was heard, so that it is a report of its own however busy the machine is.
  Launch speaks() override {
    gates_ = bench_.folder.path() + "/gates" + std::to_string(++spoken_);
    heard_ = 0;
    std::filesystem::create_directory(gates_);
    return command("heard() { until [ -e " + gates_ + "/$1 ]; do sleep 0.01; done; }; " +
                   R"(printf 'Größe 你好 \360\237'; heard 1; printf '\231\202\n'; heard 2; printf '\377 \303'; )" +
                   R"(heard 3; printf '\251 done\n'; printf 'half \342\202')");
  }
  void heard_output() override {
    if (!gates_.empty()) std::ofstream(gates_ + "/" + std::to_string(++heard_));
  }
  Launch goes_on() override { return command("echo I begin.; (sleep 1000 &) ; sleep 1000"); }
  Launch fails() override { return command("echo out; echo 'no such thing' >&2; exit 7"); }

  const std::string& data_dir() const { return bench_.folder.path(); }
  // No client is there that would start another one.
  void kill_supervisor() {
    const pid_t pid = bench_.supervisor_pid();
    bench_.disconnect();
    ::kill(pid, SIGKILL);
  }

  std::function<void()> meanwhile;  // While the server is down.
  std::string boot = "first";

 private:
  void make_driver() {
    driver_ = command::make_command_driver({.data_dir = bench_.folder.path(),
                                            .environment = {"PATH=/usr/bin:/bin", "MY_API_KEY=secret"},
                                            .grace_ms = 200,
                                            .boot = boot},
                                           {bench_.client(), timers_, bench_.executor});
  }

  process::Bench bench_;
  SystemClock clock_;
  TimerQueue timers_{clock_};
  std::unique_ptr<Driver> driver_;
  std::string gates_;
  int spoken_ = 0, heard_ = 0;
};

INSTANTIATE_TEST_SUITE_P(RealCommand, DriverContract,
                         testing::Values(DriverCase{"command", [] { return std::make_unique<RealCommandWorld>(); }}),
                         case_name);

struct RealCommand : testing::Test {
  RealCommandWorld world;

  // The outcome of a launch that ends by itself.
  Outcome run(Launch launch) {
    Host host(world, std::move(launch));
    const Status opened = host.open();
    EXPECT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    return host.outcome().value_or(Outcome{});
  }
};

TEST_F(RealCommand, AFailureHasItsCodeAndTheTailOfStderr) {
  const Outcome got = run(world.fails());
  EXPECT_EQ(got.error->code, "exit");
  EXPECT_EQ(got.exit_code, 7);
  EXPECT_EQ(got.error->details, R"({"exit_code":7,"stderr_tail":"no such thing\n"})");
}

TEST_F(RealCommand, AProgramThatDoesNotExistCouldNotBeStarted) {
  Launch launch = world.command("x");
  launch.argv = {"/nonexistent/program"};
  const Outcome got = run(launch);
  EXPECT_EQ(got.kind, Kind::failed);
  EXPECT_EQ(got.error->code, "spawn_failed");
}

// Decision 26: its folder is not synced before it starts. What tells a power cut from a crash is the boot alone.
TEST_F(RealCommand, AfterAPowerCutARunWithoutAFolderIsInterruptedAndNotBegunAgain) {
  const std::string file = world.data_dir() + "/begun";
  const auto begun_after = [&](const char* boot) {
    std::filesystem::remove(file);
    const std::string marker = process::new_marker();
    Host host(world, world.command("echo begun >> begun; exec sh -c 'sleep 1000; :' " + marker));
    EXPECT_TRUE(host.open());
    EXPECT_TRUE(world.run_until([&] { return std::filesystem::exists(file); }));
    world.meanwhile = [&] {
      world.kill_supervisor();
      EXPECT_TRUE(world.run_until([&] { return process::processes_with(marker).empty(); }));
      for (const auto& folder : std::filesystem::directory_iterator(world.data_dir() + "/run"))
        std::filesystem::remove_all(folder);
      world.boot = boot;
    };
    EXPECT_TRUE(host.crash_and_reopen());
    world.meanwhile = nullptr;
    const auto times = [&] { return process::read_text(file).size() / std::string("begun\n").size(); };
    EXPECT_TRUE(world.run_until([&] { return host.outcome() || times() > 1; }));
    if (host.outcome()) {
      EXPECT_EQ(host.outcome()->kind, Kind::lost);
      EXPECT_EQ(host.outcome()->error->code, "interrupted");
    } else {
      host.turn().stop();
      EXPECT_TRUE(host.run_until_ended());
    }
    return times();
  };
  EXPECT_EQ(begun_after("second"), 1u);
  EXPECT_EQ(begun_after("second"), 2u) << "within one boot, no folder means that nothing ran";
}

// R4.3.
TEST_F(RealCommand, PastItsTimeItIsEnded) {
  Launch launch = world.command("echo begun; sleep 1000");
  launch.timeout_ms = 300;
  const Outcome got = run(launch);
  EXPECT_EQ(got.error->code, "timeout");
  EXPECT_EQ(got.result, "begun\n");
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(RealCommand, ASignalIsNamed) {
  const Outcome got = run(world.command("kill -USR1 $$"));
  EXPECT_EQ(got.error->code, "signal");
  EXPECT_EQ(got.error->message, "The command was ended by signal 10 (SIGUSR1).");
}

// R9.1, R9.4, R12.2.
TEST_F(RealCommand, ItHasItsFolderItsMarksAndNoSecretAndNoInput) {
  const Outcome got = run(
      world.command(R"(cat; pwd; echo "$ERRAND_TASK_ID:$MY_API_KEY:$TERM"; echo made > "$ERRAND_ARTIFACTS/a.txt")"));
  EXPECT_EQ(got.result, world.data_dir() + "\ntask_00000000000000000000000001::dumb\n");
  EXPECT_TRUE(std::filesystem::exists(world.data_dir() + "/artifacts/task_00000000000000000000000001/a.txt"));
}

// R4.2: CPU use is a sign of life.
TEST_F(RealCommand, AProbeSeesWork) {
  Host host(world, world.command("while :; do :; done"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(world.run_until([&] {
    host.turn().probe();
    world.settle();
    return host.transcript().resources.cpu_s > 0;
  }));
  EXPECT_EQ(host.broken(), "");
}

// R9.3: the server keeps up with the fastest output there is, in bounded steps, and the cut is said.
TEST_F(RealCommand, AFloodOfOutputIsFollowedToItsEnd) {
  Launch launch = world.command("head -c 300000000 /dev/zero | tr '\\0' 'x'; echo; echo the end");
  launch.limits.output_bytes = 8 << 20;
  Host host(world, launch);
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_TRUE(host.outcome()->result->ends_with("the end\n"));
  const report::Output& last = host.transcript().outputs.back();
  EXPECT_EQ(last.offset + last.length, 300'000'009);
  ASSERT_EQ(host.transcript().warnings.size(), 1u);
  EXPECT_EQ(host.transcript().warnings[0].code, "output_truncated");
}

// R1.9, R1.8.
TEST_F(RealCommand, EveryAttemptKeepsItsLogUntilTheTaskIsForgotten) {
  Launch launch = world.command("echo hello");
  const TaskId id("task_00000000000000000000000001");
  for (int attempt = 0; attempt < 2; ++attempt) {
    Host host(world, launch);
    host.task().run = attempt;
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
  }
  EXPECT_EQ(world.driver().log_runs(id, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(world.driver().read_log(id, 2, -4, 100).value().pieces.at(0).bytes, "llo\n");
  std::string line;
  std::getline(std::ifstream(world.driver().log_path(id, 1)) >> std::ws, line);
  EXPECT_EQ(line, "hello");
  world.driver().forget(id);
  EXPECT_TRUE(world.run_until([&] { return world.driver().log_runs(id, 2).empty(); }));
  EXPECT_TRUE(world.run_until([&] { return !std::filesystem::exists(world.data_dir() + "/artifacts/" + id.value); }));
}

}  // namespace
}  // namespace errand::test
