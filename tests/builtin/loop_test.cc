// The loop of the built-in agent, one behaviour a test: a scripted model and scripted tools, and a stand-in for the
// engine that stores what is reported and can die at any report.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "driver/builtin/conversation.h"
#include "tests/contract/builtin_world.h"

namespace errand::builtin::test {
namespace {

using errand::test::Host;
using Kind = Outcome::Kind;
using FailureKind = model::Failure::Kind;

class World final : public errand::test::BuiltinWorld {
 public:
  // The n-th answer of the conversation; the last one stays.
  void replies(std::vector<Reply> list) {
    models.script = [list = std::move(list)](const model::Request& request) {
      return list[std::min(static_cast<size_t>(answers_in(request)), list.size() - 1)];
    };
  }
  // One after the other, whatever was asked.
  void queue(std::vector<Reply> list) {
    models.script = [list = std::move(list), next = size_t{0}](const model::Request&) mutable {
      return list[std::min(next++, list.size() - 1)];
    };
  }
};

class Loop : public testing::Test {
 protected:
  void deeds(std::map<std::string, Deed> all) {
    world.deeds = std::move(all);
    world.restart();
  }
  // Runs the turn to its end.
  const Outcome& run() {
    EXPECT_TRUE(host.open());
    EXPECT_TRUE(host.run_until_ended());
    EXPECT_EQ(host.broken(), "");
    return *host.outcome();
  }
  const model::Request& asked(size_t n) { return world.models.asked.at(n); }
  std::string error_code() const { return host.outcome()->error ? host.outcome()->error->code : ""; }
  std::string error_message() const { return host.outcome()->error ? host.outcome()->error->message : ""; }
  bool warned(std::string_view code) const {
    return std::ranges::any_of(host.transcript().warnings, [&](const auto& w) { return w.code == code; });
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> names;
    for (const report::SystemMessage& message : host.transcript().system) names.push_back(message.parts.at(0).name);
    return names;
  }

  World world;
  Host host{world, World::launch("go")};
};

TEST_F(Loop, ModelToolsModelUntilItEnds) {
  deeds({{"bash", {.output = "3 tests passed"}}});
  world.replies({calls({say("I run the tests."), call("c1", "bash", R"({"command":"make test"})")}),
                 {.blocks = {say("All tests pass.")}}});
  const Outcome& outcome = run();
  EXPECT_EQ(outcome.kind, Kind::completed);
  EXPECT_EQ(outcome.result, "All tests pass.");
  ASSERT_EQ(world.models.asked.size(), 2u);
  EXPECT_EQ(result_in(asked(1), "c1"), "3 tests passed");
  EXPECT_EQ(host.transcript().usage.input_tokens, 20);
  EXPECT_EQ(host.transcript().usage.output_tokens, 10);
  EXPECT_EQ(asked(0).cache_key, asked(1).cache_key);
  EXPECT_EQ(asked(0).system, asked(1).system);
}

TEST_F(Loop, CallsThatOnlyReadRunSideBySide) {
  deeds({{"read", {.read_only = true, .ms = 1'000}}});
  world.replies({calls({call("c1", "read"), call("c2", "read"), call("c3", "read")}), {.blocks = {say("ok")}}});
  const Time begin = world.clock.steady();
  run();
  EXPECT_LT(world.clock.steady() - begin, 2'000);
  EXPECT_EQ(world.ground.diary.size(), 3u);
}

// The arguments of a call may be megabytes, and what it needs is found in the file system.
TEST_F(Loop, CallsAreReadInTheBackgroundAndOnce) {
  deeds({{"read", {.read_only = true}},
         {"write", {.asks = true}},
         {"bash", {.wrong = "`command` must be given."}},
         {"output", {.read_only = true, .children = true}}});
  world.replies({calls({call("c1", "read"), call("c2", "read")}),
                 calls({call("c3", "write"), call("c4", "bash"), call("c5", "output")}),
                 {.blocks = {say("ok")}}});
  run();
  EXPECT_EQ(world.tools->misread, std::vector<std::string>());
  EXPECT_EQ(world.tools->read_in_background, 5 + 5);  // Each once for its summary and once to be run.
}

TEST_F(Loop, ATurnThatIsStoppedWhileACallIsReadRunsNothing) {
  deeds({{"write", {}}});
  world.replies({calls({call("c1", "write")}), {.blocks = {say("ok")}}});
  // At each moment that the background is at work.
  for (int posts = 1; posts <= 3; ++posts) {
    SCOPED_TRACE(posts);
    world.ground.diary.clear();
    Host fresh{world, World::launch("go")};
    int before = world.background.posted();
    ASSERT_TRUE(fresh.open());
    ASSERT_TRUE(fresh.run_until([&] { return world.background.posted() == before + posts; }));
    fresh.turn().stop();
    ASSERT_TRUE(fresh.run_until_ended());
    EXPECT_EQ(fresh.outcome()->kind, Kind::stopped);
    fresh.settle();
    EXPECT_EQ(fresh.broken(), "");
    EXPECT_EQ(world.ground.diary, std::vector<std::string>());
  }
}

TEST_F(Loop, ATurnThatIsGoneWhileACallIsReadIsNotCalled) {
  deeds({{"write", {}}});
  world.replies({calls({call("c1", "write")}), {.blocks = {say("ok")}}});
  for (const bool dropped : {false, true}) {
    for (int posts = 1; posts <= 3; ++posts) {
      SCOPED_TRACE(fmt::format("{} {}", dropped ? "dropped" : "destroyed", posts));
      Host fresh{world, World::launch("go")};
      int before = world.background.posted();
      ASSERT_TRUE(fresh.open());
      ASSERT_TRUE(fresh.run_until([&] { return world.background.posted() == before + posts; }));
      if (dropped)
        fresh.drop();
      else
        fresh.close();
      const int reports = fresh.reports();
      fresh.settle();
      EXPECT_EQ(fresh.reports(), reports);
      EXPECT_EQ(fresh.ended(), 0);
      EXPECT_EQ(world.ground.diary, std::vector<std::string>());
    }
  }
}

TEST_F(Loop, CallsWithEffectsRunInTheirOrder) {
  deeds({{"read", {.read_only = true, .ms = 1'000}}, {"write", {.ms = 1'000}}});
  world.replies({calls({call("c1", "read"), call("c2", "write"), call("c3", "read")}), {.blocks = {say("ok")}}});
  const Time begin = world.clock.steady();
  run();
  EXPECT_GE(world.clock.steady() - begin, 3'000);
  EXPECT_EQ(world.ground.diary, (std::vector<std::string>{"read c1", "write c2", "read c3"}));
}

// R4.6
TEST_F(Loop, ADenialIsToldWithThePersonsWord) {
  deeds({{"write", {.asks = true}}});
  world.replies({calls({call("c1", "write")}), {.blocks = {say("ok")}}});
  host.decision = "";
  ASSERT_TRUE(host.open());
  host.settle();
  ASSERT_EQ(host.transcript().asks.size(), 1u);
  EXPECT_EQ(host.transcript().asks[0].kind, AskKind::permission);
  EXPECT_EQ(host.transcript().asks[0].tool, "write");
  EXPECT_EQ(host.transcript().asks[0].subject, "write this");
  host.turn().answer(host.transcript().asks[0].request_id, "deny", "not on a Friday");
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_TRUE(world.ground.diary.empty());
  EXPECT_NE(result_in(asked(1), "c1").find("error: Denied, with these words: not on a Friday"), std::string::npos);
}

TEST_F(Loop, AnAllowedCallRunsOnceHoweverOftenItIsAllowed) {
  deeds({{"write", {.asks = true}}});
  world.replies({calls({call("c1", "write")}), {.blocks = {say("ok")}}});
  host.decision = "";
  ASSERT_TRUE(host.open());
  host.settle();
  host.turn().answer("c1", "allow", "");
  host.turn().answer("c1", "allow", "");
  host.turn().answer("nobody", "allow", "");
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.ground.diary, (std::vector<std::string>{"write c1"}));
}

// The answer may come while the tools of the turn that is taken up are still being made ready.
TEST_F(Loop, AnAnswerThatComesBeforeTheTurnIsBackAtItsQuestionCounts) {
  deeds({{"send", {.asks = true, .output = "sent"}}});
  world.replies({calls({call("s1", "send")}), {.blocks = {say("Done.")}}});
  host.decision = "";
  ASSERT_TRUE(host.open());
  host.settle();
  ASSERT_EQ(host.transcript().asks.size(), 1u);
  ASSERT_TRUE(host.crash_and_reopen());
  host.turn().answer("s1", "allow", "");
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Done.");
  EXPECT_EQ(world.ground.diary, (std::vector<std::string>{"send s1"}));
  EXPECT_EQ(host.transcript().asks.size(), 1u);
}

TEST_F(Loop, ALimitThatWasWaitedForBeforeTheServerDiedIsNotAskedAbout) {
  const Time until = world.clock.wall() + 600'000;
  world.queue({fails(FailureKind::quota, "The limit is used up.", until), {.blocks = {say("Back.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  host.task().wait = host.transcript().wait;
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until([&] { return world.clock.wall() >= until || world.models.asked.size() > 1; }));
  EXPECT_GE(world.clock.wall(), until);
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.models.asked.size(), 2u);
  EXPECT_EQ(host.outcome()->result, "Back.");
}

TEST_F(Loop, AQuestionIsAskedAndItsAnswerTold) {
  world.replies({calls({call("q1", "ask_user", R"({"question":"Which?","options":["red","blue"]})")}),
                 {.blocks = {say("Blue then.")}}});
  EXPECT_EQ(run().kind, Kind::completed);
  ASSERT_EQ(host.transcript().asks.size(), 1u);
  EXPECT_EQ(host.transcript().asks[0].kind, AskKind::answer);
  EXPECT_EQ(host.transcript().asks[0].text, "Which?");
  EXPECT_EQ(host.transcript().asks[0].options, (std::vector<std::string>{"red", "blue"}));
  EXPECT_EQ(result_in(asked(1), "q1"), "blue");
}

TEST_F(Loop, WrongCallsAreToldToTheModelAndRunNothing) {
  deeds({{"edit", {.wrong = "`path` must be given."}}, {"read", {.read_only = true}}});
  model::Block broken = call("c3", "read", R"({"pa)");
  broken.input_broken = true;
  world.replies(
      {calls({call("c1", "fly"), call("c2", "edit"), broken, call("c4", "ask_user", "{}")}), {.blocks = {say("ok")}}});
  EXPECT_EQ(run().kind, Kind::completed);
  EXPECT_TRUE(world.ground.diary.empty());
  EXPECT_EQ(result_in(asked(1), "c1"), "error: There is no tool \"fly\" here. There are: edit, read, ask_user.");
  EXPECT_EQ(result_in(asked(1), "c2"), "error: `path` must be given.");
  EXPECT_NE(result_in(asked(1), "c3").find("not a JSON object"), std::string::npos);
  EXPECT_NE(result_in(asked(1), "c4").find("`question`"), std::string::npos);
}

// R5.1
TEST_F(Loop, AMessageJoinsAtTheNextStep) {
  deeds({{"bash", {.ms = 1'000}}});
  world.replies({calls({call("c1", "bash")}), {.blocks = {say("ok")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !world.ground.diary.empty(); }));
  MessageId id;
  ASSERT_TRUE(host.send("and mind the gap", &id));
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_TRUE(host.transcript().taken.contains(id));
}

TEST_F(Loop, AMessageThatComesWithTheLastWordKeepsTheTurnGoing) {
  world.replies({{.blocks = {say("First.")}}, {.blocks = {say("Second.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(3));  // Taken, the beginning of the first answer.
  ASSERT_TRUE(host.send("one more"));
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Second.");
  EXPECT_EQ(user_words(asked(0)), "go; ");
  EXPECT_EQ(user_words(asked(1)), "go; one more; ");
}

TEST_F(Loop, ACutAnswerIsAskedForAgainAndSaysNothing) {
  Reply cut{.blocks = {say("I was ab")},
            .failure = model::Failure{.kind = FailureKind::cut, .message = "The stream broke."},
            .fail_after = 1};
  world.queue({cut, {.blocks = {say("Whole.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Whole.");
  EXPECT_EQ(asked(1).conversation, asked(0).conversation);
  EXPECT_TRUE(warned("model_retry"));
}

TEST_F(Loop, AnswersThatAreCutForEverFail) {
  Reply cut{.blocks = {say("I was ab")},
            .failure = model::Failure{.kind = FailureKind::cut, .message = "The stream broke.", .retryable = true},
            .fail_after = 1};
  world.queue({cut});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(error_code(), "model_error");
  EXPECT_EQ(world.models.asked.size(), 4u);
}

// R4.5
TEST_F(Loop, AUsageLimitIsWaitedForAndNoFailure) {
  const Time until = world.clock.wall() + 2 * 3'600'000;
  world.queue({fails(FailureKind::quota, "The limit is used up.", until), {.blocks = {say("Back.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  EXPECT_EQ(host.transcript().wait, (Wait{WaitKind::quota, "The limit is used up.", until}));
  // Another task on the same account does not even ask.
  Host other(world, World::launch("me too"), TaskId("task_00000000000000000000000002"));
  ASSERT_TRUE(other.open());
  ASSERT_TRUE(other.run_until_reports(2));
  EXPECT_EQ(world.models.asked.size(), 1u);
  EXPECT_EQ(other.transcript().wait->until, until);
  ASSERT_TRUE(host.run_until_ended());
  ASSERT_TRUE(other.run_until_ended());
  EXPECT_GE(world.clock.wall(), until);
  EXPECT_EQ(host.outcome()->result, "Back.");
  EXPECT_EQ(other.outcome()->result, "Back.");
  EXPECT_FALSE(host.transcript().wait);
  EXPECT_EQ(host.broken() + other.broken(), "");
}

TEST_F(Loop, AnAbsurdLimitIsAskedAboutAgainAfterADay) {
  const Time begin = world.clock.wall();
  const Millis day = 24 * 3'600'000;
  world.queue({fails(FailureKind::quota, "Come back next year.", begin + 365 * day), {.blocks = {say("Back.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  EXPECT_LE(host.transcript().wait->until, world.clock.wall() + day);
  EXPECT_GT(host.transcript().wait->until, world.clock.wall() + day - 60'000);
  // Also one that an earlier version has stored.
  host.task().wait = Wait{WaitKind::quota, "Come back next year.", begin + 365 * day};
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait->until < begin + 2 * day; }));
  EXPECT_EQ(host.transcript().wait->text, "Come back next year.");
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Back.");
  EXPECT_LT(world.clock.wall(), begin + 2 * day);
}

TEST_F(Loop, ALimitIsForgottenWithTheLastTaskThatMetIt) {
  const Time until = world.clock.wall() + 2 * 3'600'000;
  world.queue({fails(FailureKind::quota, "The limit is used up.", until),
               {.blocks = {say("Mine.")}},
               {.blocks = {say("Later.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  Host other(world, World::launch("me too"), TaskId("task_00000000000000000000000002"));
  ASSERT_TRUE(other.open());
  ASSERT_TRUE(other.run_until([&] { return other.transcript().wait.has_value(); }));
  EXPECT_EQ(world.models.asked.size(), 1u);
  host.turn().stop();
  ASSERT_TRUE(other.run_until_ended());
  EXPECT_EQ(other.outcome()->result, "Mine.");
  // Nor is it there for one that comes later.
  Host third(world, World::launch("and me"), TaskId("task_00000000000000000000000003"));
  ASSERT_TRUE(third.open());
  ASSERT_TRUE(third.run_until_ended());
  EXPECT_EQ(third.outcome()->result, "Later.");
  EXPECT_LT(world.clock.wall(), until);
  EXPECT_EQ(host.broken() + other.broken() + third.broken(), "");
}

TEST_F(Loop, ALimitThatIsLiftedIsAskedAboutByAllWhoWait) {
  const Time until = world.clock.wall() + 2 * 3'600'000;
  world.queue({fails(FailureKind::quota, "The limit is used up.", until),
               {.blocks = {say("Back.")}},
               {.blocks = {say("Back.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  Host other(world, World::launch("me too"), TaskId("task_00000000000000000000000002"));
  ASSERT_TRUE(other.open());
  ASSERT_TRUE(other.run_until([&] { return other.transcript().wait.has_value(); }));
  EXPECT_TRUE(other.turn().lift_quota());
  ASSERT_TRUE(other.run_until_ended());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Back.");
  EXPECT_EQ(other.outcome()->result, "Back.");
  EXPECT_LT(world.clock.wall(), until);
  EXPECT_EQ(host.broken() + other.broken(), "");
}

TEST_F(Loop, ALimitWithoutAnEndIsTriedAgainMoreAndMoreSeldom) {
  world.queue(
      {fails(FailureKind::quota), fails(FailureKind::quota), fails(FailureKind::quota), {.blocks = {say("Back.")}}});
  const Time begin = world.clock.steady();
  EXPECT_EQ(run().kind, Kind::completed);
  EXPECT_GE(world.clock.steady() - begin, 60'000 + 120'000 + 240'000);
}

TEST_F(Loop, FailuresSayWhatToDo) {
  const std::vector<std::pair<FailureKind, std::string>> all = {{FailureKind::auth, "model_auth"},
                                                                {FailureKind::invalid, "model_error"},
                                                                {FailureKind::overloaded, "model_overloaded"},
                                                                {FailureKind::network, "model_unreachable"}};
  for (const auto& [kind, code] : all) {
    world.queue({fails(kind, "The provider says no.")});
    Host one(world, World::launch("go"));
    ASSERT_TRUE(one.open());
    ASSERT_TRUE(one.run_until_ended());
    ASSERT_EQ(one.outcome()->kind, Kind::failed);
    EXPECT_EQ(one.outcome()->error->code, code);
    EXPECT_TRUE(one.outcome()->error->message.starts_with("The provider says no. ")) << one.outcome()->error->message;
    EXPECT_GT(one.outcome()->error->message.size(), 40u);
    EXPECT_NE(one.outcome()->error->details.find("\"retryable\""), std::string::npos);
  }
}

TEST_F(Loop, ARefusalFailsWithTheProvidersWords) {
  world.queue({{.blocks = {say("I will not do that.")}, .stop = model::Stop::refusal}});
  EXPECT_EQ(run().kind, Kind::failed);
  EXPECT_EQ(error_code(), "refused");
  EXPECT_NE(error_message().find("I will not do that."), std::string::npos);
}

TEST_F(Loop, AnEmptyAnswerIsNudgedOnce) {
  world.queue({{.blocks = {}}, {.blocks = {say("Here.")}}});
  EXPECT_EQ(run().result, "Here.");
  EXPECT_EQ(notes(), (std::vector<std::string>{"nudge"}));
  EXPECT_NE(user_words(asked(1)).find("had no text"), std::string::npos);
}

TEST_F(Loop, TwoEmptyAnswersFail) {
  world.queue({{.blocks = {}}, {.blocks = {say(" ")}}});
  EXPECT_EQ(run().kind, Kind::failed);
  EXPECT_EQ(error_code(), "empty_result");
  EXPECT_EQ(world.models.asked.size(), 2u);
}

TEST_F(Loop, AnAnswerAtTheOutputLimitGoesOnOnceThenSaysSo) {
  world.queue(
      {{.blocks = {say("one ")}, .stop = model::Stop::length}, {.blocks = {say("two ")}, .stop = model::Stop::length}});
  EXPECT_EQ(run().result, "one two ");
  EXPECT_EQ(notes(), (std::vector<std::string>{"continue"}));
  EXPECT_TRUE(warned("length"));
}

// R4.4
TEST_F(Loop, MaxStepsEndsWithBudget) {
  deeds({{"read", {.read_only = true}}});
  world.models.script = [](const model::Request& request) {
    return calls({call(fmt::format("c{}", answers_in(request)), "read")});
  };
  host.agent.max_steps = 3;
  EXPECT_EQ(run().kind, Kind::failed);
  EXPECT_EQ(error_code(), "budget");
  EXPECT_EQ(world.models.asked.size(), 3u);
}

TEST_F(Loop, ALongConversationIsCompactedAndTheTranscriptSaysSo) {
  deeds({{"read", {.read_only = true, .output = std::string(30'000, 'x') + " end"}}});
  world.setup.options["context_tokens"] = "40000";
  world.restart();
  int summaries = 0;
  world.models.script = [&](const model::Request& request) -> Reply {
    if (request.tools.empty()) {
      ++summaries;
      return {.blocks = {say("SUMMARY of what was read")}};
    }
    const size_t asked = world.models.asked.size();
    if (asked > 12) return {.blocks = {say("Done.")}};
    Reply reply = calls({call(fmt::format("c{}", asked), "read")});
    int64_t size = 0;
    for (const model::Entry& entry : request.conversation)
      for (const model::Block& block : entry.blocks) size += static_cast<int64_t>(block.text.size());
    reply.use = {.input = size / 4, .output = 10};
    return reply;
  };
  EXPECT_EQ(run().result, "Done.");
  EXPECT_GE(summaries, 1);
  EXPECT_EQ(notes().size(), static_cast<size_t>(summaries));
  EXPECT_EQ(notes().front(), "compaction");
  const model::Request& last = world.models.asked.back();
  EXPECT_NE(last.conversation[0].blocks[0].text.find("SUMMARY of what was read"), std::string::npos);
  EXPECT_LT(last.conversation.size(), 12u);
}

TEST_F(Loop, AConversationThatTheProviderFindsTooLongIsCompacted) {
  int refused = 0;
  world.models.script = [&](const model::Request& request) -> Reply {
    if (request.tools.empty()) return {.blocks = {say("SUMMARY")}};
    if (refused++ == 0) return fails(FailureKind::context_too_long, "Too long.");
    return {.blocks = {say("Done.")}};
  };
  EXPECT_EQ(run().result, "Done.");
  EXPECT_EQ(notes(), (std::vector<std::string>{"compaction"}));
}

TEST_F(Loop, WhatCannotBeShortenedFails) {
  world.models.script = [&](const model::Request& request) -> Reply {
    if (request.tools.empty()) return {.blocks = {say("SUMMARY")}};
    return fails(FailureKind::context_too_long, "Too long.");
  };
  EXPECT_EQ(run().kind, Kind::failed);
  EXPECT_EQ(error_code(), "context_too_long");
}

// R2.2: wherever the server dies, what may have had effects is done at most once, and the model knows how it stands.
TEST_F(Loop, KilledAtEveryReportNothingWithEffectsIsDoneTwice) {
  const auto script = [](World& world) {
    world.deeds = {{"read", {.read_only = true, .output = "text"}},
                   {"write", {.output = "written"}},
                   {"send", {.asks = true, .output = "sent"}},
                   {"bash", {.survives = true, .output = "ran", .ms = 400}}};
    world.restart();
    world.replies({calls({say("I begin."), call("r1", "read"), call("w1", "write"), call("b1", "bash")}),
                   calls({call("s1", "send")}),
                   {.blocks = {say("Done.")}}});
  };
  script(world);
  run();
  const int reports = host.reports();
  ASSERT_GT(reports, 8);
  for (int n = 0; n <= 2 * reports; ++n) {
    // It dies when a report was stored; or later, when what follows from it was done and nothing more was stored.
    const int stored = n / 2;
    const bool later = n % 2 == 1;
    SCOPED_TRACE(
        fmt::format("the server dies {} {} of {} reports were stored", later ? "long after" : "when", stored, reports));
    World again;
    script(again);
    Host other(again, World::launch("go"));
    other.store_only(stored);
    ASSERT_TRUE(other.open());
    ASSERT_TRUE(other.run_until_reports(stored));
    if (later) other.settle();
    ASSERT_TRUE(other.crash_and_reopen());
    ASSERT_TRUE(other.run_until_ended());
    EXPECT_EQ(other.broken(), "");
    EXPECT_EQ(other.outcome()->result, "Done.");
    const auto times = [&](std::string_view deed) { return std::ranges::count(again.ground.diary, deed); };
    EXPECT_LE(times("write w1"), 1);
    EXPECT_LE(times("send s1"), 1);
    EXPECT_EQ(times("bash b1"), 1);
    const model::Request& last = again.models.asked.back();
    const std::string written = result_in(last, "w1"), sent = result_in(last, "s1");
    EXPECT_TRUE(written == "written" || written == "error: " + std::string(unknown_end)) << written;
    EXPECT_TRUE(sent == "sent" || sent == "error: " + std::string(unknown_end)) << sent;
    EXPECT_EQ(result_in(last, "r1"), "text");
    EXPECT_EQ(result_in(last, "b1"), "ran");
    EXPECT_EQ(again.left_behind(), 0);
  }
}

TEST_F(Loop, AProcessThatLivesOnIsTakenUp) {
  deeds({{"bash", {.survives = true, .output = "ran", .ms = 10'000}}});
  world.replies({calls({call("b1", "bash")}), {.blocks = {say("Done.")}}});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !world.ground.diary.empty(); }));
  ASSERT_TRUE(host.crash_and_reopen());
  EXPECT_EQ(world.ground.processes.size(), 1u);
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.ground.diary, (std::vector<std::string>{"bash b1", "bash b1 again"}));
  EXPECT_EQ(host.outcome()->result, "Done.");
}

TEST_F(Loop, StopEndsTheModelAndTheToolsAndOnlyThenSaysSo) {
  deeds({{"bash", {.survives = true, .ms = 100'000}}});
  world.tools->close_ms = 500;
  world.replies({calls({call("b1", "bash")})});
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_reports(3));
  ASSERT_TRUE(host.run_until([&] { return !world.ground.diary.empty(); }));
  host.turn().stop();
  EXPECT_EQ(host.ended(), 0);
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(world.left_behind(), 0);
  EXPECT_EQ(host.broken(), "");
}

TEST_F(Loop, WhileTheModelIsSilentAProbeSaysSo) {
  world.queue({{.blocks = {}, .hangs = true}});
  ASSERT_TRUE(host.open());
  host.settle();
  const int alive = host.transcript().alive;
  host.turn().probe();
  EXPECT_EQ(host.transcript().alive, alive + 1);  // A Still, which the transcript counts with the signs of life.
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
}

// R1.9: the conversation stays in its order, and the model knows that it is tried again.
TEST_F(Loop, ARetryGoesOnInTheConversation) {
  deeds({{"read", {.read_only = true, .output = "text"}}});
  world.queue({calls({call("r1", "read")}), fails(FailureKind::auth), {.blocks = {say("Done.")}}});
  EXPECT_EQ(run().kind, Kind::failed);
  host.task().turn += 1;
  host.give_again();
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "Done.");
  const model::Request& last = world.models.asked.back();
  ASSERT_EQ(last.conversation.size(), 3u);
  EXPECT_EQ(last.conversation[0].blocks[0].text, "go");
  EXPECT_EQ(result_in(last, "r1"), "text");
  EXPECT_NE(last.conversation[2].blocks.back().text.find("is tried again"), std::string::npos);
}

}  // namespace
}  // namespace errand::builtin::test
