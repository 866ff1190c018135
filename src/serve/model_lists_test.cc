#include "serve/model_lists.h"

#include <gtest/gtest.h>

namespace errand::serve {
namespace {

// A provider that answers when the test says so.
class Provider final : public ModelList {
 public:
  void list_models(const Agent& agent, Listed done) override {
    asked.push_back(agent.model);
    waiting.push_back(std::move(done));
  }
  void say(Result<ListedModels> listed) {
    for (Listed& done : std::exchange(waiting, {})) done(listed);
  }
  std::vector<std::string> asked;
  std::vector<Listed> waiting;
};

ListedModels one_model(std::string id) {
  return {.models = {{.id = std::move(id), .name = {}}}, .by = ListedBy::provider};
}

class ModelListsTest : public testing::Test {
 protected:
  // What somebody who asks was told: a model's id, or why not.
  std::shared_ptr<std::string> ask(const Agent& agent) {
    auto told = std::make_shared<std::string>();
    lists.list(agent, [told](const Result<ListedModels>& listed) {
      *told += !listed ? listed.error().message : listed->models.empty() ? "none" : listed->models.front().id;
    });
    return told;
  }
  void pass(Millis ms) {
    clock.advance(ms);
    timers.run_due();
  }

  ManualClock clock;
  TimerQueue timers{clock};
  Provider provider;
  ModelLists lists{[this](const Agent& agent) { return agent.driver == "builtin" ? &provider : nullptr; }, timers,
                   clock};
  Agent agent{.id = "builtin", .name = "builtin", .driver = "builtin"};
};

TEST_F(ModelListsTest, AnAgentWhoseDriverListsNoneHasNone) {
  agent.driver = "command";
  EXPECT_EQ(*ask(agent), "none");
  EXPECT_TRUE(provider.asked.empty());
}

TEST_F(ModelListsTest, AProviderIsAskedOnceForAllWhoLookAndAgainAfterFiveMinutes) {
  const auto first = ask(agent), second = ask(agent);
  EXPECT_EQ(*first, "");
  provider.say(one_model("a"));
  EXPECT_EQ(*first, "a");
  EXPECT_EQ(*second, "a");
  pass(4 * 60'000);
  EXPECT_EQ(*ask(agent), "a");
  EXPECT_EQ(provider.asked.size(), 1U);
  pass(2 * 60'000);
  const auto later = ask(agent);
  provider.say(one_model("b"));
  EXPECT_EQ(*later, "b");
  EXPECT_EQ(provider.asked.size(), 2U);
}

TEST_F(ModelListsTest, AFailureIsForgottenSoon) {
  const auto first = ask(agent);
  provider.say(fail(Code::unavailable, "away"));
  EXPECT_EQ(*first, "away");
  EXPECT_EQ(*ask(agent), "away");
  EXPECT_EQ(provider.asked.size(), 1U);
  pass(10'000);
  const auto again = ask(agent);
  provider.say(one_model("a"));
  EXPECT_EQ(*again, "a");
}

TEST_F(ModelListsTest, WhoWaitsTooLongIsToldSoAndALateAnswerIsKept) {
  const auto first = ask(agent);
  pass(20'000);
  EXPECT_NE(first->find("did not say in time"), std::string::npos) << *first;
  const auto second = ask(agent);
  EXPECT_EQ(provider.asked.size(), 1U) << "it is still being asked";
  provider.say(one_model("a"));
  EXPECT_EQ(*second, "a");
  EXPECT_EQ(*ask(agent), "a");
}

TEST_F(ModelListsTest, AnAgentThatWasChangedIsAskedForAnew) {
  const auto first = ask(agent);
  agent.options["base_url"] = "http://other/v1";
  const auto second = ask(agent);
  EXPECT_EQ(provider.asked.size(), 2U);
  std::vector<ModelList::Listed> waiting = std::exchange(provider.waiting, {});
  waiting[1](one_model("new"));
  waiting[0](one_model("old"));
  EXPECT_EQ(*first, "old");
  EXPECT_EQ(*second, "new");
  EXPECT_EQ(*ask(agent), "new");
}

TEST(ModelLists, AnAnswerThatComesAfterItIsGoneIsLeft) {
  ManualClock clock;
  TimerQueue timers{clock};
  Provider provider;
  bool told = false;
  {
    ModelLists lists([&](const Agent&) { return &provider; }, timers, clock);
    lists.list({.id = "x", .name = "x", .driver = "x"}, [&](const Result<ListedModels>&) { told = true; });
  }
  provider.say(one_model("a"));
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace errand::serve
