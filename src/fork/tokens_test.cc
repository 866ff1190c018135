// How close the estimate is to real tokenizers is tests/e2e/tokens.test.mjs's to say.
#include "fork/tokens.h"

#include <string>

#include <gtest/gtest.h>

#include "base/text.h"

namespace errand {
namespace {

TEST(Tokens, OfNothingAreNone) { EXPECT_EQ(estimate_tokens(std::string_view()), 0); }

TEST(Tokens, GrowWithTheText) {
  std::string text;
  int64_t before = 0;
  for (int i = 0; i < 200; ++i) {
    text += i % 3 == 0 ? "word " : i % 3 == 1 ? "语言，" : "x = 17;\n";
    const int64_t now = estimate_tokens(text);
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(Tokens, OfAnEndlessWordAreBoundedBelowToo) {
  EXPECT_GT(estimate_tokens(std::string(10'000, 'a')), 2'000);
  EXPECT_GT(estimate_tokens(std::string(10'000, '7')), 3'000);
}

TEST(Tokens, ABeginningOrAnEndFitsAndSplitsNoCharacter) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "Ein 语言 wörd; ";
  for (const int64_t limit : {0, 1, 7, 100, 1'000, 100'000}) {
    const size_t head = tokens_prefix(text, limit);
    const size_t tail = tokens_suffix(text, limit);
    EXPECT_LE(estimate_tokens(text.substr(0, head)), limit);
    EXPECT_LE(estimate_tokens(text.substr(text.size() - tail)), limit + limit / 20 + 2);
    EXPECT_TRUE(is_utf8(text.substr(0, head)));
    EXPECT_TRUE(is_utf8(text.substr(text.size() - tail)));
  }
  EXPECT_EQ(tokens_prefix(text, 100'000), text.size());
  EXPECT_EQ(tokens_suffix(text, 100'000), text.size());
}

TEST(Tokens, AnEstimateThatStopsSaysOnlyThatItIsOver) {
  const std::string text(1 << 20, 'x');
  EXPECT_GT(estimate_tokens_to(text, 100), 100);
  EXPECT_LT(estimate_tokens_to(text, 100), 1'000);
}

TEST(Tokens, OfAMessageCountItsPartsAndFrames) {
  Message message;
  const int64_t empty = estimate_tokens(message);
  EXPECT_GT(empty, 0);
  message.parts.push_back({.type = PartType::text, .text = "hello world"});
  EXPECT_GT(estimate_tokens(message), empty + estimate_tokens("hello world"));
  message.parts.push_back(
      {.type = PartType::tool_call, .call_id = "toolu_01abcdef", .name = "read", .input = R"({"path":"a"})"});
  EXPECT_GT(estimate_tokens(message), empty + estimate_tokens("hello world") + estimate_tokens(R"({"path":"a"})") + 20);
}

TEST(Tokens, OfAnImageDoNotGrowWithItsFile) {
  Part image{.type = PartType::file, .media_type = "image/png", .url = "data:" + std::string(1 << 20, 'A')};
  EXPECT_LT(estimate_tokens(image), 2'000);
}

}  // namespace
}  // namespace errand
