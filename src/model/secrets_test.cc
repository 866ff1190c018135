#include "model/secrets.h"

#include <gtest/gtest.h>

namespace errand::model {
namespace {

const std::string key = "sk-ant-sk-ant-topsecret";  // Begins as it goes on: a match may have to begin anew.
const std::string longer = "Bearer sk-ant-sk-ant-topsecret";

TEST(Secrets, AreTheKeyAndWhatHeadersHold) {
  EXPECT_EQ(secrets_of({.key = key}), std::vector<std::string>{key});
  EXPECT_EQ(secrets_of({.key = "lm-studio"}), std::vector<std::string>{}) << "a word that people use";
  EXPECT_EQ(secrets_of({.headers = {{"X-Title", "a long and harmless title"}}}), std::vector<std::string>{});
  EXPECT_EQ(secrets_of({.key = key, .headers = {{"Authorization", longer}}}), (std::vector<std::string>{key, longer}));
  EXPECT_EQ(secrets_of({.key = "0123456789/abcdef"}),
            (std::vector<std::string>{R"(0123456789\/abcdef)", "0123456789/abcdef"}));
}

TEST(Secrets, AreTakenOutWhereverTheTextIsCut) {
  const std::vector<std::string> secrets = {key, longer};
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"Your key is " + key + ".", "Your key is [key]."},
      {"I sent " + longer + "!", "I sent [key]!"},
      {"sk-ant-" + key, "sk-ant-[key]"},
      {key + key, "[key][key]"},
      {"sk-ant-sk-ant-topsecre", "sk-ant-sk-ant-topsecre"},
      {"Bearer sk-ant-sk-ant-topsecre", "Bearer sk-ant-sk-ant-topsecre"},
      {"Bearer Bearer " + key + " B", "Bearer [key] B"},
      {"", ""},
  };
  for (const auto& [text, wanted] : texts) {
    EXPECT_EQ(without_secrets(text, secrets), wanted);
    for (size_t first = 0; first <= text.size(); ++first)
      for (size_t second = first; second <= text.size(); ++second) {
        SecretFilter filter(secrets);
        std::string got = filter.feed(text.substr(0, first));
        got += filter.feed(text.substr(first, second - first));
        // What is held back is never more than may be a secret's beginning.
        EXPECT_GE(got.size() + longer.size() - 1 + key.size(), std::min(second, wanted.size()));
        got += filter.feed(text.substr(second));
        EXPECT_EQ(got + filter.end(), wanted) << first << " " << second;
      }
  }
}

TEST(Secrets, HoldBackOnlyWhereOneMayHaveBegun) {
  const std::vector<std::string> secrets = {key};
  SecretFilter filter(secrets);
  EXPECT_EQ(filter.feed("Hello wor"), "Hello wor");
  EXPECT_EQ(filter.feed("lds"), "ld");
  EXPECT_EQ(filter.feed("!"), "s!");
  EXPECT_EQ(filter.feed(key.substr(0, key.size() - 1)), "");
  EXPECT_EQ(filter.feed("T"), key.substr(0, key.size() - 1) + "T");
  EXPECT_EQ(filter.end(), "");
}

}  // namespace
}  // namespace errand::model
