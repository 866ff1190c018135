#include "settings/model_table.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace errand {
namespace {

ModelSettings local() { return {.base_url = "http://127.0.0.1:11434/v1", .model = "qwen3"}; }

TEST(ModelTable, IsAddedToAFileWithoutOneAndNothingElseChanges) {
  EXPECT_EQ(with_model_table("", local()).value(),
            "[model]\nbase_url = \"http://127.0.0.1:11434/v1\"\nmodel = \"qwen3\"\n");
  EXPECT_EQ(
      with_model_table("max_concurrent = 5 # mine\n\n[models.big]\napi = \"anthropic\"",
                       {.api = "anthropic", .key = "k"})
          .value(),
      "max_concurrent = 5 # mine\n\n[models.big]\napi = \"anthropic\"\n\n[model]\napi = \"anthropic\"\nkey = \"k\"\n");
}

TEST(ModelTable, IsReplacedInItsPlaceAndKeepsTheRestOfItself) {
  const std::string before =
      "# top\n[model] # the usual one\n  key_env = \"OLD\"\nbase_url='http://old/v1'\neffort = \"high\"\n# a note\n"
      "context_tokens = 32768\n\n[agents.reviewer]\nmodel = \"x\"\ndriver = \"builtin\"\n";
  const std::string after = with_model_table(before, local()).value();
  EXPECT_EQ(after,
            "# top\n[model] # the usual one\nbase_url = \"http://127.0.0.1:11434/v1\"\nmodel = \"qwen3\"\n"
            "effort = \"high\"\n# a note\ncontext_tokens = 32768\n\n[agents.reviewer]\nmodel = \"x\"\ndriver = "
            "\"builtin\"\n");
  EXPECT_EQ(with_model_table(after, local()).value(), after) << "it can be repeated";
  EXPECT_EQ(kept_of_model(after), "effort, context_tokens");
}

TEST(ModelTable, QuotesWhateverItIsGiven) {
  const std::string hostile = "a\"b\\c\n[agents.x]\nd\x01";
  const std::string after = with_model_table("", {.api = "anthropic", .key = hostile}).value();
  EXPECT_EQ(std::ranges::count(after, '\n'), 3) << after;
  EXPECT_EQ(with_model_table(after, {.api = "anthropic", .key = hostile}).value(), after);
}

TEST(ModelTable, IsLeftAloneWhereALineIsNotWhatItSeems) {
  for (const char* text : {"model = { base_url = \"http://a/v1\" }\n", "model.base_url = \"http://a/v1\"\n",
                           "[model]\nmodel = '''\nmodel = 1\n'''\n"}) {
    const Result<std::string> after = with_model_table(text, {.api = "anthropic", .key = "sk-secret"});
    ASSERT_FALSE(after) << text << *after;
    EXPECT_EQ(after.error().reason, "by_hand");
    EXPECT_FALSE(after.error().message.contains("sk-secret")) << after.error().message;
  }
  EXPECT_EQ(with_model_table("[model\n", local()).error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace errand
