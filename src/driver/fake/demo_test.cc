// Agents (spec section 13): the demo agent shows every kind of event, and says that it is a demonstration.
#include "driver/fake/demo.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace errand::fake {
namespace {

Script script(std::string text, int earlier = 0) {
  return demo_script({.text = std::move(text), .earlier = earlier, .task = nullptr});
}

std::string said(const Script& script) {
  std::string out;
  for (const ScriptStep& step : script.steps())
    if (const auto* say = std::get_if<step::Say>(&step)) out += say->text;
  return out;
}

template <class T>
int count(const Script& script) {
  int n = 0;
  for (const ScriptStep& step : script.steps()) n += std::holds_alternative<T>(step);
  return n;
}

TEST(DemoTest, AnyPromptIsQuotedInAnAnswerThatSaysItIsADemonstration) {
  const std::string text = said(script("Fix the bug in main.cc\nand more"));
  EXPECT_NE(text.find("demonstration"), std::string::npos);
  EXPECT_NE(text.find("> Fix the bug in main.cc\n"), std::string::npos);
  EXPECT_EQ(text.find("and more"), std::string::npos);
}

TEST(DemoTest, DoesWhatTheRetryBroughtInsteadOfWhatFailed) {
  const Script retried = demo_script({.text = "fail\ntools", .earlier = 0, .task = nullptr, .retried_with = "tools"});
  EXPECT_EQ(count<step::Fail>(retried), 0);
  EXPECT_EQ(count<step::Tool>(retried), 3);
}

TEST(DemoTest, AWorkDirThatIsNotThereIsRefused) {
  ManualClock clock;
  TimerQueue timers(clock);
  const std::unique_ptr<FakeDriver> demo = make_demo_driver(timers);
  Launch launch;
  launch.agent_id = "demo";
  launch.prompt = "noop";
  for (const char* folder : {"", "/", "/tmp"}) {
    launch.work_dir = folder;
    EXPECT_TRUE(demo->look(launch)()) << folder;
  }
  for (const char* folder : {"/no/such/folder", "/dev/null", "relative"}) {
    launch.work_dir = folder;
    EXPECT_TRUE(demo->check(launch)) << "it looks at no file";
    const Status refused = demo->look(launch)();
    ASSERT_FALSE(refused) << folder;
    EXPECT_EQ(refused.error().reason, "bad_work_dir");
  }
}

TEST(DemoTest, HelpNamesEveryWordOfTheTable) {
  for (const char* prompt : {"", "  \n", "help", "Help!"}) {
    const std::string text = said(script(prompt));
    for (const DemoWord& word : demo_words())
      EXPECT_NE(text.find("`" + std::string(word.word)), std::string::npos) << word.word;
  }
}

TEST(DemoTest, NoopIsOneStep) {
  for (const char* prompt : {"noop", " NOOP\n"}) {
    const Script noop = script(prompt, 3);
    ASSERT_EQ(noop.steps().size(), 1u);
    EXPECT_EQ(std::get<step::Finish>(noop.steps()[0]).result, "ok");
  }
}

TEST(DemoTest, WordsAreDoneInTheirOrder) {
  const Script all = script("usage, then tools; then (fail)");
  const auto& steps = all.steps();
  EXPECT_TRUE(std::holds_alternative<step::Use>(steps.front()));
  EXPECT_TRUE(std::holds_alternative<step::Fail>(steps.back()));
  EXPECT_EQ(count<step::Tool>(all), 3);
}

TEST(DemoTest, ANumberBehindAWordIsTakenAndBounded) {
  const auto repeats = [](const std::string& prompt) {
    for (const ScriptStep& step : script(prompt).steps())
      if (const auto* repeat = std::get_if<step::Repeat>(&step)) return repeat->count;
    return int64_t{-1};
  };
  EXPECT_EQ(repeats("long 5"), 5);
  EXPECT_EQ(repeats("long"), 30);
  EXPECT_EQ(repeats("long text 5"), 30);
  EXPECT_EQ(repeats("flood 20"), 20);
  EXPECT_EQ(repeats("flood 99999999999999999999999"), 1'000);  // Not a number that it knows.
  EXPECT_EQ(repeats("flood 99999999999"), 1'000'000);
  EXPECT_EQ(repeats("long 3s"), 30);
}

TEST(DemoTest, WarningsAreEventsOfTheirOwn) { EXPECT_EQ(count<step::Warn>(script("warnings 20")), 20); }

// R5.2: the whole conversation is in place.
TEST(DemoTest, AFurtherTurnKnowsHowManyMessagesCameBefore) {
  EXPECT_EQ(said(script("text")).find("You have sent me"), std::string::npos);
  EXPECT_NE(said(script("text", 1)).find("You have sent me 2 messages"), std::string::npos);
}

TEST(DemoTest, APromptFullOfWordsIsBounded) {
  std::string prompt;
  for (int i = 0; i < 10'000; ++i) prompt += "text ";
  const Script bounded = script(prompt);
  EXPECT_EQ(bounded.steps().size(), static_cast<size_t>(demo_words_max) + 1);
  EXPECT_NE(said(bounded).find("I leave the rest out"), std::string::npos);
}

TEST(DemoTest, BytesThatAreNoTextStayHarmless) {
  const std::string text = said(script("\xff\xfe caf\xc3 \x80"));
  EXPECT_NE(text.find("\xef\xbf\xbd"), std::string::npos);
}

}  // namespace
}  // namespace errand::fake
