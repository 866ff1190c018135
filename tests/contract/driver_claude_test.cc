// The contract, for Claude Code: over a program and a supervisor in memory, whose time goes as fast as the next timer.
#include <algorithm>
#include <memory>

#include "base/test_folder.h"
#include "driver/claude/claude_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/driver_fake_supervisor.h"
#include "tests/contract/scripted_claude.h"
#include "tests/contract/timed_world.h"

namespace errand::test {
namespace {

using Kind = Outcome::Kind;

class ClaudeWorld final : public TimedWorld {
 public:
  ClaudeWorld() { restart(); }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_.reset();
    driver_ = claude::make_claude_driver(
        {.command = {.data_dir = folder_.path(),
                     .environment = {"HOME=/home/user", "PATH=/bin", "ANTHROPIC_API_KEY=key", "GITHUB_TOKEN=secret",
                                     "CLAUDECODE=1", "CLAUDE_CODE_USE_BEDROCK=1"},
                     .open_journal = [this](const std::string& run) { return supervisor.journal(run); }},
         .program = "/usr/bin/claude",
         .mcp_servers = {},
         .kept = [this] { return kept; },
         .ask_for_turn = [this](const TaskId&, const std::string& why,
                                std::move_only_function<void(bool)> done) { asked.push_back({why, std::move(done)}); }},
        {.supervisor = supervisor, .timers = timers, .clock = clock, .random = random_});
  }
  int left_behind() override { return supervisor.alive(); }
  bool outlives_server() override { return true; }

  Launch speaks() override { return agent("speaks"); }
  Launch goes_on() override { return agent("goes_on"); }
  Launch fails() override { return agent("fails"); }
  static Launch agent(std::string prompt) {
    Launch launch = agent_launch("claude", std::move(prompt));
    launch.work_dir = "/tmp";
    return launch;
  }

 private:
  TestFolder folder_;
  SeededRandom random_{7};

 public:
  FakeSupervisor supervisor{timers};
  ScriptedClaude program{supervisor, timers};
  program::Holder::Bounds kept;  // Nothing.
  std::vector<TurnAsked> asked;  // By programs that began by themselves.

 private:
  std::unique_ptr<Driver> driver_;
};

INSTANTIATE_TEST_SUITE_P(Claude, DriverContract,
                         testing::Values(DriverCase{"claude", [] { return std::make_unique<ClaudeWorld>(); }}),
                         case_name);

struct ClaudeDriver : testing::Test {
  ClaudeWorld world;

  const process::SpawnRequest& spawned() { return world.supervisor.runs.begin()->second.request; }
};

TEST_F(ClaudeDriver, EveryMessageIsGivenOnceWhereverTheServerDies) {
  Host whole(world, world.speaks());
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  EXPECT_EQ(world.program.prompts, 1);
  EXPECT_EQ(whole.transcript().agent_session, "6b8dcbcb-cad6-4690-91ba-3af5984e986b");
  EXPECT_EQ(whole.transcript().usage.cost_usd, 0.25);
  for (int stored = 0; stored <= whole.reports(); ++stored) {
    SCOPED_TRACE(stored);
    ClaudeWorld other;
    Host host(other, other.speaks());
    host.store_only(stored);
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_reports(stored));
    ASSERT_TRUE(host.crash_and_reopen());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(other.program.prompts, 1);
  }
}

// A supervisor of the build before knows it too, and is asked.
TEST_F(ClaudeDriver, AnOlderSupervisorIsAskedWhatTheProgramHas) {
  for (const int stored : {1, 3, 8}) {
    SCOPED_TRACE(stored);
    ClaudeWorld other;
    other.supervisor.older = true;
    Host host(other, other.speaks());
    host.store_only(stored);
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_reports(stored));
    ASSERT_TRUE(host.crash_and_reopen());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(other.program.prompts, 1);
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
  }
}

TEST_F(ClaudeDriver, AnAnswerIsGivenAlsoAfterTheServerDied) {
  Host host(world, world.speaks());
  host.decision = "";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.task().asks.empty(); }));
  EXPECT_EQ(host.transcript().asks.front().tool, "bash") << "as rules know it";
  EXPECT_EQ(host.transcript().asks.front().subject, "touch é");
  ASSERT_TRUE(host.crash_and_reopen());
  host.decision = "deny";
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_TRUE(host.transcript().text().contains("error: not allowed")) << host.transcript().text();
}

TEST_F(ClaudeDriver, AFurtherTurnResumesItsConversation) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  host.prompt("and then?");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_EQ(host.broken(), "");
  EXPECT_TRUE(host.transcript().said().contains("You said: and then?"));
  ASSERT_EQ(world.supervisor.runs.size(), 1u) << "what the turn before left is gone";
  EXPECT_TRUE(spawned().run.ends_with(".2"));
  EXPECT_NE(std::ranges::find(spawned().argv, "--resume=6b8dcbcb-cad6-4690-91ba-3af5984e986b"), spawned().argv.end());
}

TEST_F(ClaudeDriver, AFurtherTurnGoesOnInTheProgramThatWaitsWhereverTheServerDies) {
  int reports = INT_MAX;
  for (int stored = 0; stored <= reports; ++stored) {
    SCOPED_TRACE(stored);
    ClaudeWorld other;
    other.kept = {.idle_ms = 60'000'000, .most = 1};
    Host host(other, other.speaks());
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(other.left_behind(), 1) << "it waits";
    const int before = host.reports();
    host.prompt("and then?");
    // The first time to its end, to know how many reports there are.
    const bool whole = stored == 0;
    ASSERT_TRUE(host.run_turn(stored));
    if (whole) reports = host.reports() - before + 1;
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
    EXPECT_EQ(other.program.prompts, 2);
    // Where nothing was stored of the second turn, it begins anew, and what waited is ended.
    if (whole || stored > 1) {
      ASSERT_EQ(other.supervisor.runs.size(), 1u);
      EXPECT_TRUE(other.supervisor.runs.begin()->first.ends_with(".1"));
    }
    EXPECT_LE(other.left_behind(), 1);
    other.driver().server_leaves(false);
    other.settle();
    EXPECT_EQ(other.left_behind(), 0);
  }
}

TEST_F(ClaudeDriver, WhereItIsNotFoundAnyMoreWhatWasLeftAtWorkIsEnded) {
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  host.close();
  world.supervisor.spawn({.run = "task_00000000000000000000000009.1", .argv = {"a command"}}, nullptr, [](auto&&) {});
  ASSERT_EQ(world.left_behind(), 2);
  claude::end_left_programs(world.supervisor);
  world.settle();
  EXPECT_EQ(world.left_behind(), 1) << "commands go on";
}

TEST_F(ClaudeDriver, AnOlderProgramThatDoesNotSayWhichMessageItWorksAtDoesNotWait) {
  world.kept = {.idle_ms = 60'000'000, .most = 1};
  world.program.says_lifecycle = false;
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(ClaudeDriver, WhatWaitsIsEndedInTimeAndWithItsTask) {
  world.kept = {.idle_ms = 60'000, .most = 1};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.left_behind(), 1);
  world.settle();
  EXPECT_EQ(world.left_behind(), 0) << "it has waited long enough";
  host.prompt("and then?");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_TRUE(host.transcript().said().contains("You said: and then?"));
  EXPECT_EQ(world.left_behind(), 1);
  world.driver().forget(host.task().id);
  world.kept.idle_ms = 0;
  EXPECT_TRUE(world.run_until([&] { return world.left_behind() == 0; }));
}

// What a program says in the moment between two turns, before anybody hears it.
struct ClaudeBetweenTurns : ClaudeDriver {
  Host host{world, world.speaks()};

  void SetUp() override {
    world.kept = {.idle_ms = 60'000'000, .most = 1};
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    ASSERT_EQ(world.supervisor.runs.size(), 1u);
    host.prompt("and then?");
  }
  void says(const char* line) {
    world.supervisor.print(world.supervisor.runs.begin()->first, process::Stream::out, std::string(line) + "\n");
  }
  void begins_by_itself() {
    says(R"({"type":"system","subtype":"init","session_id":"6b8dcbcb-cad6-4690-91ba-3af5984e986b","tools":["Bash"]})");
    says(R"({"type":"assistant","message":{"id":"msg_9","content":[{"type":"text","text":"The shell has ended."}]}})");
  }
};

TEST_F(ClaudeBetweenTurns, WhatItBeganByItselfIsNoAnswerToTheNextMessage) {
  begins_by_itself();
  ASSERT_TRUE(world.run_until([&] { return world.asked.size() == 1; }));
  says(
      R"({"type":"result","subtype":"success","is_error":false,"result":"The shell has ended.","total_cost_usd":0.1})");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(world.program.prompts, 2);
  EXPECT_EQ(host.outcome()->result, "All done.");
  EXPECT_TRUE(host.transcript().said().contains("The shell has ended."))
      << "it is a part of the turn, before the answer";
  EXPECT_TRUE(host.transcript().said().contains("You said: and then?"));
  EXPECT_EQ(world.supervisor.runs.size(), 1u) << "in the same program";
}

TEST_F(ClaudeBetweenTurns, TheLastWordsOfOneThatHasGoneAreNoPartOfTheNextTurn) {
  ASSERT_TRUE(host.open());
  begins_by_itself();
  world.supervisor.end(world.supervisor.runs.begin()->first, {.how = process::RunEnd::How::exited});
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_FALSE(host.transcript().said().contains("The shell has ended.")) << host.transcript().said();
  EXPECT_TRUE(host.transcript().said().contains("You said: and then?"));
}

// A command in the background ends while its program waits: the agent goes on by itself.
struct ClaudeBegins {
  explicit ClaudeBegins(program::Holder::Bounds bounds = {.idle_ms = 60'000'000, .most = 1}) { world.kept = bounds; }

  void first_turn() {
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    ASSERT_EQ(world.supervisor.runs.size(), 1u);
  }
  void says(const char* line) {
    world.supervisor.print(world.supervisor.runs.begin()->first, process::Stream::out, std::string(line) + "\n");
  }
  void begins() {
    const size_t before = world.asked.size();
    says(R"({"type":"system","subtype":"task_notification","status":"completed","summary":"\"make\" completed"})");
    says(R"({"type":"system","subtype":"background_tasks_changed","tasks":[]})");
    says(R"({"type":"system","subtype":"init","session_id":"6b8dcbcb-cad6-4690-91ba-3af5984e986b","tools":["Bash"]})");
    says(R"({"type":"assistant","message":{"id":"msg_9","content":[{"type":"text","text":"It is built."}]}})");
    ASSERT_TRUE(world.run_until([&] { return world.asked.size() > before; }));
    EXPECT_EQ(world.asked.back().why, "\"make\" completed");
  }
  void ends() {
    says(R"({"type":"result","subtype":"success","is_error":false,"result":"It is built.","num_turns":1,)"
         R"("model_usage_since_last_result":{"m":{"inputTokens":10,"outputTokens":2,"costUSD":0.5}}})");
  }

  ClaudeWorld world;
  Host host{world, world.speaks()};
};

TEST(ClaudeBeginsByItself, ItIsATurnOfItsTaskWhereverTheServerDies) {
  int reports = INT_MAX;
  for (int stored = 0; stored <= reports; ++stored) {
    SCOPED_TRACE(stored);
    ClaudeBegins agent;
    Host& host = agent.host;
    ASSERT_NO_FATAL_FAILURE(agent.first_turn());
    const double cost = host.transcript().usage.cost_usd;
    const int before = host.reports();
    ASSERT_NO_FATAL_FAILURE(agent.begins());
    agent.ends();
    host.notice("\"make\" completed", "began");
    const bool whole = stored == 0;
    ASSERT_TRUE(host.run_turn(stored));
    if (whole) reports = host.reports() - before + 1;
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
    EXPECT_EQ(host.transcript().taken.size(), 2u);
    EXPECT_LE(agent.world.left_behind(), 1);
    if (!whole && stored == 1) {  // Nothing was stored of the turn: a new program is told why.
      EXPECT_EQ(agent.world.program.prompts, 2);
      EXPECT_TRUE(agent.world.program.told.back().contains("completed")) << agent.world.program.told.back();
      continue;
    }
    EXPECT_EQ(agent.world.program.prompts, 1) << "it knows by itself";
    EXPECT_EQ(host.outcome()->result, "It is built.");
    EXPECT_TRUE(host.transcript().said().ends_with("It is built.")) << host.transcript().said();
    EXPECT_EQ(host.transcript().usage.cost_usd, cost + 0.5);
    EXPECT_EQ(agent.world.left_behind(), 1) << "it waits again";
  }
}

TEST(ClaudeBeginsByItself, ItsQuestionsAreAsked) {
  ClaudeBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.first_turn());
  const size_t asks = agent.host.transcript().asks.size();
  ASSERT_NO_FATAL_FAILURE(agent.begins());
  agent.says(
      R"({"type":"control_request","request_id":"r9","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make install"},"tool_use_id":"toolu_9"}})");
  agent.host.notice("why", "began");
  ASSERT_TRUE(agent.host.open());
  ASSERT_TRUE(agent.host.run_until([&] {
    return std::ranges::any_of(agent.world.program.told, [](const std::string& line) { return line.contains("r9"); });
  }));
  ASSERT_EQ(agent.host.transcript().asks.size(), asks + 1);
  EXPECT_EQ(agent.host.transcript().asks.back().subject, "make install");
  agent.ends();
  ASSERT_TRUE(agent.host.run_until_ended());
  EXPECT_EQ(agent.host.broken(), "");
}

TEST(ClaudeBeginsByItself, WhereThereIsNoSlotInTimeANewProgramIsToldWhenThereIs) {
  ClaudeBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.first_turn());
  ASSERT_NO_FATAL_FAILURE(agent.begins());
  agent.world.asked.back().done(true);
  EXPECT_TRUE(agent.world.run_until([&] { return agent.world.left_behind() == 0; })) << "it works without a slot";
  agent.host.notice("\"make\" completed", "began");
  ASSERT_TRUE(agent.host.open());
  ASSERT_TRUE(agent.host.run_until_ended());
  EXPECT_EQ(agent.host.broken(), "");
  EXPECT_EQ(agent.world.program.prompts, 2);
  EXPECT_TRUE(agent.world.program.told.back().contains("completed")) << agent.world.program.told.back();
}

TEST(ClaudeBeginsByItself, WhatGetsNoTurnIsEndedAtOnce) {
  ClaudeBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.first_turn());
  ASSERT_NO_FATAL_FAILURE(agent.begins());
  const Time before = agent.world.clock.steady();
  agent.world.asked.back().done(false);
  EXPECT_TRUE(agent.world.run_until([&] { return agent.world.left_behind() == 0; }));
  EXPECT_LT(agent.world.clock.steady() - before, 20'000);
}

TEST(ClaudeBeginsByItself, ItWaitsLongerWhileACommandIsInTheBackground) {
  ClaudeBegins agent({.idle_ms = 60'000, .most = 1, .busy_ms = 600'000});
  ASSERT_NO_FATAL_FAILURE(agent.first_turn());
  const Time before = agent.world.clock.steady();
  agent.says(
      R"({"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1","task_type":"local_bash"}]})");
  EXPECT_TRUE(agent.world.run_until([&] { return agent.world.left_behind() == 0; }));
  EXPECT_GE(agent.world.clock.steady() - before, 600'000);
}

TEST(ClaudeBeginsByItself, OneThatWakesItselfAgainAndAgainIsEndedInTheEnd) {
  ClaudeBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.first_turn());
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_FATAL_FAILURE(agent.begins());
    agent.ends();
    agent.host.notice("why", "began");
    ASSERT_TRUE(agent.host.open());
    ASSERT_TRUE(agent.host.run_until_ended());
  }
  const size_t asked = agent.world.asked.size();
  agent.says(R"({"type":"system","subtype":"init","session_id":"6b8dcbcb-cad6-4690-91ba-3af5984e986b","tools":[]})");
  EXPECT_TRUE(agent.world.run_until([&] { return agent.world.left_behind() == 0; }));
  EXPECT_EQ(agent.world.asked.size(), asked);
}

TEST_F(ClaudeDriver, ItHasItsOwnKeysAndNobodyElses) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(spawned().env, [&](const std::string& entry) { return entry.starts_with(name); });
  };
  EXPECT_TRUE(has("ANTHROPIC_API_KEY="));
  EXPECT_TRUE(has("CLAUDE_CODE_USE_BEDROCK="));
  EXPECT_TRUE(has("DISABLE_AUTOUPDATER=1"));
  EXPECT_TRUE(has("ERRAND_TASK_ID="));
  EXPECT_FALSE(has("GITHUB_TOKEN="));
  EXPECT_FALSE(has("CLAUDECODE="));
}

// R6.4: what a fork takes over is put in without asking for a reply.
TEST_F(ClaudeDriver, AForkHasTheConversationBeforeItAndAnswersItsMessageAlone) {
  Launch launch = world.agent("which one?");
  launch.fork = true;
  Host host(world, launch);
  host.carry("count to two", "one, two");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  ASSERT_EQ(world.program.prompts, 2);
  EXPECT_TRUE(world.program.told[0].contains("\"shouldQuery\":false")) << world.program.told[0];
  EXPECT_TRUE(world.program.told[0].contains("one, two")) << world.program.told[0];
  EXPECT_EQ(host.transcript().messages, 1) << "one answer, to the message";
  EXPECT_TRUE(host.transcript().said().ends_with("which one?")) << host.transcript().said();
  EXPECT_EQ(host.transcript().taken.size(), 1u);
}

TEST_F(ClaudeDriver, AForksConversationIsToldOnceWhereverTheServerDies) {
  Launch launch = world.agent("which one?");
  launch.fork = true;
  Host whole(world, launch);
  whole.carry("count to two", "one, two");
  ASSERT_TRUE(whole.open());
  ASSERT_TRUE(whole.run_until_ended());
  for (int stored = 0; stored <= whole.reports(); ++stored) {
    SCOPED_TRACE(stored);
    ClaudeWorld other;
    Host host(other, launch);
    host.carry("count to two", "one, two");
    host.store_only(stored);
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_reports(stored));
    ASSERT_TRUE(host.crash_and_reopen());
    ASSERT_TRUE(host.run_until_ended());
    EXPECT_EQ(other.program.prompts, 2);
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
  }
}

// R5.5: a notice before a message is no question of its own, and one that is all there is has begun the turn.
TEST_F(ClaudeDriver, ANoticeIsToldAndAsksForNoAnswerOfItsOwn) {
  Host host(world, world.agent("begin"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  host.notice("task_b has ended");
  host.prompt("and then?");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.transcript().taken.size(), 3u);
  EXPECT_EQ(host.transcript().messages, 2) << host.transcript().text();
  EXPECT_TRUE(host.transcript().said().ends_with("<notice>\ntask_b has ended\n</notice> | and then?"))
      << host.transcript().said();
  host.notice("task_c has ended");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.transcript().messages, 3);
  EXPECT_EQ(host.broken(), "");
}

// R4.5.
TEST_F(ClaudeDriver, AUsageLimitIsWaitedForUntilItEndsAlsoByTheNextServer) {
  const Time resets{(world.clock.wall().ms / 1000 + 7200) * 1000};
  world.program.resets = resets;
  Host host(world, world.agent("limit"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  EXPECT_EQ(host.transcript().wait->until, resets);
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_GE(world.clock.wall(), resets);
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_TRUE(host.transcript().said().contains("usage limit is over")) << host.transcript().text();
  EXPECT_FALSE(host.transcript().wait);
}

TEST_F(ClaudeDriver, SomebodyMaySayThatTheLimitIsOverWhileTheTurnIsTakenUp) {
  world.program.resets = world.clock.wall() + 7'200'000;
  Host host(world, world.agent("limit"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.turn().lift_quota()) << "it has not heard of its program yet";
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_LT(world.clock.wall(), world.program.resets);
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
}

TEST_F(ClaudeDriver, SomebodyMaySayThatTheLimitIsOver) {
  world.program.resets = world.clock.wall() + 7'200'000;
  Host host(world, world.agent("limit"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  ASSERT_TRUE(host.turn().lift_quota());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_LT(world.clock.wall(), world.program.resets);
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
}

// It would try for minutes, and be refused each time.
TEST_F(ClaudeDriver, ALoginThatIsRefusedTwiceIsNotTriedTenTimes) {
  for (const int attempt : {1, 2, 3})
    world.program.first_steps.push_back(
        R"({"type":"system","subtype":"api_retry","attempt":)" + std::to_string(attempt) +
        R"(,"max_retries":10,"retry_delay_ms":500,"error_status":401,"error":"authentication_failed"})");
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::failed);
  EXPECT_EQ(host.outcome()->error->code, "login_required");
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(ClaudeDriver, AProgramThatIsKilledIsAFailureWithACode) {
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().messages > 0; }));
  world.supervisor.end(world.supervisor.runs.begin()->first, {.how = process::RunEnd::How::signalled, .signal = 9});
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::failed);
  EXPECT_EQ(host.outcome()->error->code, "agent_died");
  EXPECT_EQ(host.outcome()->signal, 9);
  EXPECT_EQ(host.broken(), "");
}

TEST_F(ClaudeDriver, OneThatDiedWhileThereWasNoServerHasWhatItWasTold) {
  Host host(world, world.goes_on());
  host.store_only(1);
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(1));
  host.run_until([&] { return world.program.prompts == 1; });
  host.close();
  world.settle();
  world.supervisor.end(world.supervisor.runs.begin()->first, {.how = process::RunEnd::How::signalled, .signal = 9});
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->error->code, "agent_died");
  EXPECT_EQ(host.transcript().taken.size(), 1u);
  EXPECT_EQ(host.transcript().said(), "I begin.");
  EXPECT_EQ(world.program.prompts, 1);
}

// A helper that it started for itself ends behind the result, and makes it go on.
TEST_F(ClaudeDriver, AResultIsNotTheEndWhileAHelperIsAtWork) {
  world.program.first_steps = {
      R"({"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a","task_type":"local_agent"},{"task_id":"b","task_type":"local_bash"}]})"};
  Host host(world, world.agent("hello"));
  ASSERT_TRUE(host.open());
  host.settle();
  EXPECT_EQ(host.ended(), 0);
  const std::string run = world.supervisor.runs.begin()->first;
  for (const char* line :
       {R"({"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","task_type":"local_bash"}]})",
        R"({"type":"system","subtype":"init"})",
        R"({"type":"assistant","message":{"id":"msg_9","content":[{"type":"text","text":"The helper is done."}]}})",
        R"({"type":"result","is_error":false,"result":"The helper is done."})"})
    world.supervisor.print(run, process::Stream::out, std::string(line) + "\n");
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "The helper is done.");
  EXPECT_EQ(host.broken(), "");
}

TEST_F(ClaudeDriver, AnOlderProgramThatSaysNothingOfMessagesWorksToo) {
  world.program.says_lifecycle = false;
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_EQ(host.transcript().taken.size(), 1u);
  EXPECT_EQ(host.broken(), "");
}

TEST_F(ClaudeDriver, ForgottenNothingOfItsRunsIsLeft) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  std::vector<Driver::KnownRun> known;
  world.driver().known_runs([&](std::vector<Driver::KnownRun> runs) { known = std::move(runs); });
  world.settle();
  ASSERT_EQ(known.size(), 1u);
  EXPECT_FALSE(known.front().alive);
  world.driver().forget(host.task().id);
  world.settle();
  EXPECT_TRUE(world.supervisor.runs.empty());
}

TEST_F(ClaudeDriver, WhatItCannotRunIsRefusedInWords) {
  Launch launch = world.agent("x");
  launch.sandbox = Sandbox::strict;
  EXPECT_EQ(world.driver().check(launch).error().code, Code::unsupported);
  launch = Launch{};
  launch.kind = TaskKind::command;
  EXPECT_FALSE(world.driver().check(launch));
}

}  // namespace
}  // namespace errand::test
