// The contract, for OpenCode: over an OpenCode and a supervisor in memory, whose time goes as fast as the next timer.
#include <memory>

#include "base/test_folder.h"
#include "driver/opencode/opencode_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/driver_fake_supervisor.h"
#include "tests/contract/scripted_opencode.h"
#include "tests/contract/timed_world.h"

namespace errand::test {
namespace {

using Kind = Outcome::Kind;

class OpencodeWorld final : public TimedWorld {
 public:
  OpencodeWorld() {
    supervisor.programs["0"] = {
        .prints = {{5, process::Stream::out, "opencode server listening on http://127.0.0.1:4096\n"}}, .end = {}};
    restart();
  }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_.reset();
    driver_ = opencode::make_opencode_driver(
        {.data_dir = folder_.path(),
         .program = "/usr/bin/opencode",
         .environment = {"HOME=/", "ERRAND_TOKEN=x"},
         .open_journal = [this](const std::string& run) { return supervisor.journal(run); }},
        {.supervisor = supervisor, .http = opencode, .timers = timers, .clock = clock, .random = random_});
  }
  int left_behind() override { return opencode.busy(); }
  bool outlives_server() override { return true; }

  Launch speaks() override { return agent("speaks"); }
  Launch goes_on() override { return agent("goes_on"); }
  Launch fails() override { return agent("fails"); }

 private:
  static Launch agent(std::string prompt) {
    Launch launch = agent_launch("opencode", std::move(prompt));
    launch.work_dir = "/tmp";
    return launch;
  }

  TestFolder folder_;
  SeededRandom random_{7};

 public:
  FakeSupervisor supervisor{timers};
  ScriptedOpenCode opencode{timers, clock, [this] { return supervisor.alive() > 0; }};

 private:
  std::unique_ptr<Driver> driver_;
};

INSTANTIATE_TEST_SUITE_P(Opencode, DriverContract,
                         testing::Values(DriverCase{"opencode", [] { return std::make_unique<OpencodeWorld>(); }}),
                         case_name);

struct OpencodeDriver : testing::Test {
  OpencodeWorld world;
};

// R5.1, R2.2: however often the stream is lost, nothing is missed and nothing doubled.
TEST_F(OpencodeDriver, AStreamThatIsLostAtAnyMomentLosesNothing) {
  Host whole(world, world.speaks());
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  for (int after = 1; after <= whole.reports(); ++after) {
    SCOPED_TRACE(after);
    OpencodeWorld other;
    Host host(other, other.speaks());
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until([&] { return host.reports() >= after || host.ended() > 0; }));
    other.opencode.lose_streams();
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.transcript().text(), whole.transcript().text());
    EXPECT_EQ(other.opencode.prompts, 1);
  }
}

// What comes faster than it can be stored waits at OpenCode, not in memory: the stream is held, also a new one.
TEST_F(OpencodeDriver, TheStreamIsHeldUntilWhatItSaidIsStored) {
  Host whole(world, world.speaks());
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  EXPECT_EQ(world.opencode.waited, 0) << "nothing is held where there is room";
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    OpencodeWorld other;
    Host host(other, other.speaks());
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until([&] { return host.reports() >= 3; }));
    // The disk stands still: there is no room, and nobody says that there is.
    host.stuck = true;
    ASSERT_TRUE(other.run_until([&] { return other.opencode.waited > 0; }));
    if (lost) {
      other.opencode.lose_streams();
      const int before = other.opencode.waited;
      ASSERT_TRUE(other.run_until([&] { return other.opencode.waited > before; })) << "the next stream is held too";
    }
    EXPECT_LE(host.pushed(), 1) << "what was read cannot be unread, and no more is read";
    host.stuck = false;
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.transcript().text(), whole.transcript().text());
  }
}

// R4.6: an answer that did not reach it is given again.
TEST_F(OpencodeDriver, AQuestionIsAnsweredAlsoAfterTheServerDied) {
  Host host(world, world.speaks());
  host.decision = "";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.task().asks.empty(); }));
  ASSERT_TRUE(host.crash_and_reopen());
  host.decision = "allow";
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_EQ(host.transcript().asks.size(), 1U);
}

// R1.8: the session goes with the task, also where OpenCode has to be started for it.
TEST_F(OpencodeDriver, ForgottenItsSessionIsDeleted) {
  {
    Host host(world, world.speaks());
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
  }
  EXPECT_EQ(world.opencode.sessions(), 1U);
  world.settle();  // Nobody needs it: it is ended.
  EXPECT_EQ(world.supervisor.alive(), 0);
  world.restart();
  std::vector<Driver::KnownRun> known;
  world.driver().known_runs([&](std::vector<Driver::KnownRun> runs) { known = std::move(runs); });
  ASSERT_EQ(known.size(), 1U) << "the engine asks whether its task is still there";
  world.driver().forget(known[0].task);
  EXPECT_TRUE(world.run_until([&] { return world.opencode.sessions() == 0; }));
  world.driver().known_runs([&](std::vector<Driver::KnownRun> runs) { known = std::move(runs); });
  EXPECT_TRUE(known.empty());
}

// It has just died, and nobody has noticed yet.
TEST_F(OpencodeDriver, WhatCouldNotBeDeletedAtOnceIsDeletedLater) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  world.opencode.refuse = 3;
  world.driver().forget(host.task().id);
  EXPECT_TRUE(world.run_until([&] { return world.opencode.sessions() == 0; }));
}

TEST_F(OpencodeDriver, AProgramThatCannotBeStartedIsAFailureThatSaysSo) {
  world.supervisor.spawn_fails = Error{Code::unavailable, "No such program.", {}};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::failed);
  EXPECT_EQ(host.outcome()->error->code, "spawn_failed");
}

TEST_F(OpencodeDriver, OursAreNotItsSecrets) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  const auto& request = world.supervisor.runs.begin()->second.request;
  for (const std::string& variable : request.env) EXPECT_FALSE(variable.starts_with("ERRAND_TOKEN=")) << variable;
}

}  // namespace
}  // namespace errand::test
