#include "driver/fake/fake_driver.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/timers.h"
#include "driver/fake/place.h"

namespace errand::fake {
namespace {

// Keeps what it hears, in order, without judging.
struct Ear : Sink {
  std::vector<Report> reports;
  std::vector<Outcome> outcomes;
  int calls = 0;
  bool report_after_end = false;

  void report(std::vector<Report> batch, std::string) override {
    ++calls;
    report_after_end |= !outcomes.empty();
    std::ranges::move(batch, std::back_inserter(reports));
  }
  void when_stored(Work) override {}  // Nothing here is ever durable.
  void ended(Outcome outcome) override { outcomes.push_back(std::move(outcome)); }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const Report& any : reports)
      if (const T* one = std::get_if<T>(&any)) out.push_back(*one);
    return out;
  }
  std::string said() const {
    std::string out;
    for (const auto& text : all<report::Text>()) out += text.text;
    return out;
  }
};

struct FakeDriverTest : testing::Test {
  ManualClock clock;
  TimerQueue timers{clock};
  Ear ear;
  Misbehaviour misbehaviour;
  Millis stop_ms = 0;
  std::unique_ptr<FakeDriver> driver;
  std::unique_ptr<Turn> turn;
  Task task;

  static Message message(std::string id, std::string text) {
    Message m;
    m.id = MessageId(std::move(id));
    m.parts.push_back({.type = PartType::text, .text = std::move(text)});
    return m;
  }
  Status open(const Script& script, bool reattach = false) {
    driver = std::make_unique<FakeDriver>(timers,
                                          FakeOptions{.script = [script](const Prompt&) { return script; },
                                                      .misbehave = [this](const TurnRequest&) { return misbehaviour; },
                                                      .stop_ms = stop_ms});
    task.run = 4;
    TurnRequest request{.task = std::make_shared<Task>(task),
                        .messages = {message("msg_1", "go")},
                        .history = {},
                        .reattach = reattach,
                        .agent = std::make_shared<Agent>()};
    Result<std::unique_ptr<Turn>> opened = driver->open(std::move(request), ear);
    if (!opened) return std::unexpected(opened.error());
    turn = *std::move(opened);
    return {};
  }
  void pass(Millis ms) {
    const Time end = clock.steady() + ms;
    while (timers.next_due() && timers.next_due() <= end) {
      clock.advance(std::max<Millis>(timers.next_due() - clock.steady(), 0));
      timers.run_due();
    }
    clock.advance(end - clock.steady());
  }
};

TEST_F(FakeDriverTest, WhatNeedsNoTimeIsOneReportAndTheEndInsideOpen) {
  ASSERT_TRUE(open(Script().finish("ok")));
  EXPECT_EQ(ear.calls, 1);
  ASSERT_EQ(ear.reports.size(), 1u);
  EXPECT_EQ(std::get<report::Taken>(ear.reports[0]).message, MessageId("msg_1"));
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].result, "ok");
  EXPECT_EQ(driver->live(), 0);
}

TEST_F(FakeDriverTest, AStreamComesInChunksThatSplitNoCharacter) {
  ASSERT_TRUE(open(Script().stream("äöü€", 3, 10).stream("€é", 1, 10)));
  pass(1'000);
  std::vector<std::string> chunks;
  for (const auto& text : ear.all<report::Text>()) chunks.push_back(text.text);
  EXPECT_EQ(chunks, (std::vector<std::string>{"ä", "ö", "ü", "€", "€", "é"}));
  EXPECT_EQ(ear.outcomes.at(0).result, "€é");
}

TEST_F(FakeDriverTest, TheResultIsWhatWasSaidLast) {
  ASSERT_TRUE(open(Script().say("first").tool({.name = "t"}).say("last").think("hm")));
  EXPECT_EQ(ear.outcomes.at(0).result, "last");
}

TEST_F(FakeDriverTest, AnAnswerChoosesTheBranchAndStandsInTheText) {
  ASSERT_TRUE(open(Script()
                       .ask("c", "Colour?", {"red"})
                       .when("c", "red", Script().say("R:{c} "))
                       .unless("c", "red", Script().say("other:{c} {x}"))));
  const auto asks = ear.all<report::Asks>();
  ASSERT_EQ(asks.size(), 1u);
  turn->answer("ask_of_nobody", "answer", "no");
  EXPECT_TRUE(ear.outcomes.empty());
  turn->answer(asks[0].request_id, "answer", "pink");
  EXPECT_EQ(ear.said(), "other:pink {x}");
  turn->answer(asks[0].request_id, "answer", "again");
  EXPECT_EQ(ear.outcomes.size(), 1u);
}

TEST_F(FakeDriverTest, AnAnswerThatWasStoredBeforeARestartIsNotAskedForAgain) {
  task.checkpoint = encode_place({.prompt = {"msg_1"}, .step = 0, .sub = 1, .asks = 1});
  task.asks = {{.request_id = "ask_4_1", .kind = AskKind::permission, .decision = "deny"}};
  ASSERT_TRUE(open(Script().ask_permission("p", "May I?", "write", "a").say("{p}"), true));
  EXPECT_TRUE(ear.all<report::Asks>().empty());
  EXPECT_EQ(ear.outcomes.at(0).result, "deny");
}

TEST_F(FakeDriverTest, AMessageDuringALongStepIsTakenBetweenTwoRounds) {
  ASSERT_TRUE(open(Script().repeat("tick ", 3, 100).say("done")));
  ASSERT_TRUE(turn->send(message("msg_2", "hurry\nplease")));
  pass(1'000);
  EXPECT_EQ(ear.said(), "tick You said: hurry\ntick tick done");
  std::vector<int> parts;
  for (const auto& text : ear.all<report::Text>()) parts.push_back(text.part);
  EXPECT_EQ(parts, (std::vector<int>{0, 1, 2, 2, 3}));
}

TEST_F(FakeDriverTest, AMessageAfterTheLastRoundLeavesNoGapInTheParts) {
  ASSERT_TRUE(open(Script().repeat("tick ", 2, 100).say("done")));
  pass(150);
  ASSERT_TRUE(turn->send(message("msg_2", "now")));
  pass(1'000);
  EXPECT_EQ(ear.said(), "tick tick You said: now\ndone");
  std::vector<int> parts;
  for (const auto& text : ear.all<report::Text>()) parts.push_back(text.part);
  EXPECT_EQ(parts, (std::vector<int>{0, 0, 1, 2}));
}

TEST_F(FakeDriverTest, AFloodLeavesRoomForOthers) {
  ASSERT_TRUE(open(Script().repeat("x", 1'000, 0)));
  EXPECT_LT(ear.reports.size(), 100u);
  pass(0);
  EXPECT_EQ(ear.said(), std::string(1'000, 'x'));
}

TEST_F(FakeDriverTest, SilenceDoesNotAnswerAProbeAndAnOrdinaryWaitDoes) {
  ASSERT_TRUE(open(Script().wait(100).silent(100).say("back")));
  turn->probe();
  EXPECT_EQ(ear.all<report::Alive>().size(), 1u);
  pass(100);
  turn->probe();
  EXPECT_EQ(ear.all<report::Alive>().size(), 1u);
  pass(100);
  EXPECT_EQ(ear.outcomes.size(), 1u);
}

TEST_F(FakeDriverTest, ADamagedCheckpointIsAnsweredAsAnError) {
  for (const char* bad :
       {"{", "[]", "{\"prompt\":[]}", "12",
        "{\"prompt\":[],\"step\":-1,\"sub\":0,\"part\":0,\"open\":false,\"said\":0,\"asks\":0,\"answers\":{}}"}) {
    task.checkpoint = bad;
    const Status opened = open(Script(), true);
    ASSERT_FALSE(opened) << bad;
    EXPECT_EQ(opened.error().code, Code::internal);
  }
}

TEST_F(FakeDriverTest, APlaceComesBackAsItWas) {
  const Place place{.prompt = {"a", "b"},
                    .step = 7,
                    .sub = 3,
                    .part = 2,
                    .open = true,
                    .said = 5,
                    .asks = 1,
                    .answers = {{"c", "ä\"\n"}}};
  EXPECT_EQ(decode_place(encode_place(place)), place);
}

// --- misbehaviour, which the engine's tests and the simulator ask for

TEST_F(FakeDriverTest, MisbehavesAfterTheEndOnRequest) {
  misbehaviour = {.late_report = true, .end_twice = true};
  ASSERT_TRUE(open(Script().say("bye")));
  EXPECT_TRUE(ear.report_after_end);
  ASSERT_EQ(ear.outcomes.size(), 2u);
  EXPECT_NE(ear.outcomes[0].kind, ear.outcomes[1].kind);
  EXPECT_EQ(driver->live(), 0);
}

TEST_F(FakeDriverTest, IgnoresStopUntilItIsLetGoOnRequest) {
  misbehaviour = {.ignore_stop = true};
  ASSERT_TRUE(open(Script().wait(10).say("x")));
  turn->stop();
  pass(1'000);
  EXPECT_TRUE(ear.outcomes.empty());
  EXPECT_EQ(driver->live(), 1);
  turn->drop();
  EXPECT_EQ(driver->live(), 0);
  EXPECT_EQ(timers.size(), 0u);
}

TEST_F(FakeDriverTest, CompletesAfterStopOnRequest) {
  misbehaviour = {.talk_after_stop = true};
  ASSERT_TRUE(open(Script().wait(10).say("x")));
  turn->stop();
  pass(1'000);
  EXPECT_EQ(ear.outcomes.at(0).kind, Outcome::Kind::completed);
}

TEST_F(FakeDriverTest, StopTakesItsTimeWhereSet) {
  stop_ms = 500;
  ASSERT_TRUE(open(Script().hang()));
  turn->stop();
  turn->stop();
  EXPECT_FALSE(turn->send(message("msg_2", "?")));
  pass(499);
  EXPECT_TRUE(ear.outcomes.empty());
  pass(1);
  EXPECT_EQ(ear.outcomes.at(0).kind, Outcome::Kind::stopped);
}

TEST_F(FakeDriverTest, RefusesEndsAtOnceOrSaysNothingOnRequest) {
  misbehaviour = {.refuse_open = true};
  EXPECT_EQ(open(Script()).error().code, Code::unavailable);
  misbehaviour = {.end_in_open = true};
  ASSERT_TRUE(open(Script().say("x")));
  EXPECT_EQ(ear.outcomes.at(0).kind, Outcome::Kind::failed);
  EXPECT_TRUE(ear.reports.empty());
  misbehaviour = {.silent = true};
  ASSERT_TRUE(open(Script().say("x")));
  turn->probe();
  pass(1'000);
  EXPECT_TRUE(ear.reports.empty());
  turn->stop();
  EXPECT_EQ(ear.outcomes.size(), 2u);
}

TEST_F(FakeDriverTest, DropsMessagesAndAnswersOnRequest) {
  misbehaviour = {.drop_messages = true, .ignore_answers = true};
  ASSERT_TRUE(open(Script().wait(10).ask("c", "?").say("x")));
  EXPECT_TRUE(turn->send(message("msg_2", "hello")));
  pass(100);
  turn->answer(ear.all<report::Asks>().at(0).request_id, "answer", "yes");
  pass(100);
  EXPECT_EQ(ear.all<report::Taken>().size(), 1u);
  EXPECT_TRUE(ear.outcomes.empty());
}

TEST_F(FakeDriverTest, ReportsGarbageAndIsLostOnRequest) {
  misbehaviour = {.garbage = true};
  ASSERT_TRUE(open(Script().say("x")));
  EXPECT_EQ(ear.all<report::ToolCompleted>().at(0).call_id, "call_of_nobody");
  misbehaviour = {.lost = true};
  ASSERT_TRUE(open(Script().say("x"), true));
  EXPECT_EQ(ear.outcomes.at(1).kind, Outcome::Kind::lost);
}

TEST_F(FakeDriverTest, RandomMisbehaviourIsTheSameForTheSameSeed) {
  SeededRandom a(7), b(7);
  int different = 0;
  for (int i = 0; i < 50; ++i) {
    const Misbehaviour one = random_misbehaviour(a, 3);
    EXPECT_EQ(one, random_misbehaviour(b, 3));
    different += one != Misbehaviour{};
  }
  EXPECT_GT(different, 10);
}

}  // namespace
}  // namespace errand::fake
