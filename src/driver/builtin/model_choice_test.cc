#include "driver/builtin/model_choice.h"

#include <gtest/gtest.h>

namespace errand::builtin {
namespace {

ModelDirectory directory(std::vector<ModelSetup> setups, StringMap environment = {}) {
  Result<ModelDirectory> made = ModelDirectory::make(std::move(setups), std::move(environment));
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

TEST(ModelChoice, NothingIsSetAndItSaysWhatToSet) {
  const ModelDirectory none = directory({});
  EXPECT_NE(none.unavailable().find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_NE(none.unavailable().find("errand.toml"), std::string::npos);
  const Result<ModelChoice> choice = none.choose("");
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::unavailable);
  EXPECT_EQ(choice.error().reason, "no_model");
}

TEST(ModelChoice, TheEnvironmentIsEnough) {
  const ModelDirectory models = directory({}, {{"ANTHROPIC_API_KEY", "k1"}});
  EXPECT_EQ(models.unavailable(), "");
  const Result<ModelChoice> choice = models.choose("");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->endpoint.api, model::Api::anthropic);
  EXPECT_EQ(choice->endpoint.key, "k1");
  EXPECT_FALSE(choice->model.empty());
}

TEST(ModelChoice, AnAddressAloneLeavesTheModelToTheServer) {
  const ModelDirectory models = directory({}, {{"OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"}});
  ASSERT_TRUE(models.choose(""));
  EXPECT_EQ(models.choose("")->model, "");
  EXPECT_EQ(models.choose("qwen3")->model, "qwen3");
  EXPECT_EQ(directory({}, {{"OPENAI_BASE_URL", "http://127.0.0.1:1/v1"}, {"ERRAND_MODEL", "m"}}).choose("")->model,
            "m");
}

TEST(ModelChoice, BothProvidersCanBeHadByName) {
  const ModelDirectory models = directory({}, {{"ANTHROPIC_API_KEY", "k1"}, {"OPENAI_API_KEY", "k2"}});
  EXPECT_EQ(models.choose("openai")->endpoint.key, "k2");
  EXPECT_EQ(models.choose("anthropic/claude-x")->model, "claude-x");
  EXPECT_EQ(models.choose("anthropic/claude-x")->endpoint.key, "k1");
}

TEST(ModelChoice, SettingsGoOverTheEnvironment) {
  const ModelDirectory models = directory(
      {{.name = "", .base_url = "http://127.0.0.1:1/v1", .model = "local", .options = {{"context_tokens", "9000"}}},
       {.name = "big", .api = "anthropic", .key_env = "MY_KEY", .model = "claude-opus"}},
      {{"ANTHROPIC_API_KEY", "k1"}, {"MY_KEY", "k2"}});
  const Result<ModelChoice> main = models.choose("");
  ASSERT_TRUE(main);
  EXPECT_EQ(main->endpoint.base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(main->endpoint.api, model::Api::openai_chat);
  EXPECT_EQ(main->info.context_tokens, 9000);
  EXPECT_EQ(models.choose("big")->endpoint.key, "k2");
  EXPECT_EQ(models.choose("big")->endpoint.base_url, "https://api.anthropic.com");
  EXPECT_EQ(models.choose("big/other")->model, "other");
  // A slash is nothing special in a name that is none of ours.
  EXPECT_EQ(models.choose("meta/llama")->model, "meta/llama");
}

TEST(ModelChoice, AKeyThatIsNotThereIsNamed) {
  const ModelDirectory models = directory({{.name = "big", .api = "anthropic", .key_env = "MY_KEY"}});
  EXPECT_NE(models.unavailable().find("MY_KEY"), std::string::npos);
  ASSERT_FALSE(models.choose("big"));
  EXPECT_NE(models.choose("big").error().message.find("MY_KEY"), std::string::npos);
}

TEST(ModelChoice, WrongSettingsAreNamed) {
  const auto wrong = [](ModelSetup setup) {
    const Result<ModelDirectory> made = ModelDirectory::make({std::move(setup)}, {});
    return made ? std::string() : made.error().message;
  };
  EXPECT_NE(wrong({.name = "a", .api = "gopher"}).find("models.a.api"), std::string::npos);
  EXPECT_NE(wrong({.name = "a"}).find("models.a"), std::string::npos);
  EXPECT_NE(wrong({.base_url = "ftp://x"}).find("model.base_url"), std::string::npos);
  EXPECT_NE(wrong({.base_url = "http://x", .options = {{"context_tokens", "many"}}}).find("context_tokens"),
            std::string::npos);
}

TEST(ModelChoice, TheLaunchGoesOverTheAgentAndItsOptionsOverTheSetting) {
  const ModelDirectory models = directory({{.base_url = "http://127.0.0.1:1", .model = "a", .effort = "low"}});
  Agent agent;
  agent.model = "b";
  agent.options = {{"effort", "high"}, {"context_tokens", "5000"}};
  Launch launch;
  EXPECT_EQ(models.choose(launch, agent)->model, "b");
  EXPECT_EQ(models.choose(launch, agent)->effort, "high");
  EXPECT_EQ(models.choose(launch, agent)->info.context_tokens, 5000);
  launch.model = "c";
  EXPECT_EQ(models.choose(launch, agent)->model, "c");
  EXPECT_EQ(models.choose(launch, {})->effort, "low");
}

TEST(ModelChoice, AnAgentMayHaveAnEndpointOfItsOwn) {
  const ModelDirectory models = directory({}, {{"TEAM_KEY", "k9"}});
  Agent agent;
  agent.id = "agent_x";
  agent.model = "m";
  agent.options = {{"base_url", "http://127.0.0.1:9/v1"}, {"api", "openai_responses"}, {"key_env", "TEAM_KEY"}};
  const Result<ModelChoice> choice = models.choose({}, agent);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->endpoint.base_url, "http://127.0.0.1:9/v1");
  EXPECT_EQ(choice->endpoint.api, model::Api::openai_responses);
  EXPECT_EQ(choice->endpoint.key, "k9");
  EXPECT_EQ(choice->model, "m");
  agent.options["api"] = "gopher";
  EXPECT_NE(models.choose({}, agent).error().message.find("api"), std::string::npos);
}

}  // namespace
}  // namespace errand::builtin
