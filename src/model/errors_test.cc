// What refusals mean. The bodies are those that the providers send.
#include "model/errors.h"

#include <gtest/gtest.h>

#include "model/place.h"

namespace errand::model {
namespace {

using Kind = Failure::Kind;
constexpr Time now{1'763'200'000'000};

http::Head head(int status, http::Headers headers = {}) { return {status, std::move(headers), ""}; }
Refusal judge(int status, std::string_view body, http::Headers headers = {}) {
  return judge_status(head(status, std::move(headers)), body, AskLimits{}, now);
}

struct Case {
  int status;
  std::string_view body;
  Kind kind;
  bool try_again, retryable;
};

TEST(Refusals, AreToldApart) {
  const Case cases[] = {
      // Anthropic.
      {401, R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})", Kind::auth,
       false, false},
      {403, R"({"type":"error","error":{"type":"permission_error","message":"no"}})", Kind::auth, false, false},
      {404, R"({"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}})", Kind::invalid, false,
       false},
      {400, R"({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}})",
       Kind::invalid, false, false},
      {400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209025 tokens > 200000 maximum"}})",
       Kind::context_too_long, false, false},
      {400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"}})",
       Kind::context_too_long, false, false},
      {413, R"({"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}})",
       Kind::context_too_long, false, false},
      {400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}})",
       Kind::quota, false, true},
      {402, R"({"type":"error","error":{"type":"billing_error","message":"x"}})", Kind::quota, false, true},
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}})",
       Kind::overloaded, true, true},
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}})",
       Kind::quota, false, true},
      {500, R"({"type":"error","error":{"type":"api_error","message":"Internal server error"}})", Kind::overloaded,
       true, true},
      {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", Kind::overloaded, true,
       true},
      // OpenAI.
      {401,
       R"({"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})",
       Kind::auth, false, false},
      {429,
       R"({"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})",
       Kind::quota, false, true},
      {429,
       R"({"error":{"message":"Rate limit reached for gpt-5 in organization org-x on tokens per min","type":"tokens","param":null,"code":"rate_limit_exceeded"}})",
       Kind::overloaded, true, true},
      {400,
       R"({"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
       Kind::context_too_long, false, false},
      {400,
       R"({"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":null}})",
       Kind::context_too_long, false, false},
      {409, "", Kind::overloaded, true, true},
      {408, "", Kind::overloaded, true, true},
      {503, "upstream connect error", Kind::overloaded, true, true},
      // Local servers.
      {400,
       R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}})",
       Kind::context_too_long, false, false},
      {500,
       R"({"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size","type":"server_error"}})",
       Kind::context_too_long, false, false},
      {404, R"({"error":"model 'qwen3' not found"})", Kind::invalid, false, false},
      {400,
       R"({"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400})",
       Kind::context_too_long, false, false},
      // OpenRouter.
      {402, R"({"error":{"message":"Insufficient credits","code":402}})", Kind::quota, false, true},
      {301, "", Kind::invalid, false, false},
  };
  for (const Case& each : cases) {
    const Refusal refusal = judge(each.status, each.body);
    EXPECT_EQ(name(refusal.failure.kind), name(each.kind)) << each.status << each.body;
    EXPECT_EQ(refusal.try_again, each.try_again) << each.status << each.body;
    EXPECT_EQ(refusal.failure.retryable, each.retryable) << each.status << each.body;
    EXPECT_EQ(refusal.failure.status, each.status);
    EXPECT_FALSE(refusal.failure.message.empty());
  }
}

TEST(Refusals, TheServersWordOnRetriesIsObeyed) {
  EXPECT_TRUE(judge(400, "", {{"x-should-retry", "true"}}).try_again);
  EXPECT_FALSE(judge(529, "", {{"x-should-retry", "false"}}).try_again);
}

TEST(Refusals, WaitsAreWhatIsAskedFor) {
  EXPECT_EQ(judge(429, "", {{"retry-after", "7"}}).asked_ms, 7000);
  EXPECT_EQ(judge(429, "", {{"retry-after", "0.25"}}).asked_ms, 250);
  EXPECT_EQ(judge(429, "", {{"retry-after-ms", "30"}, {"retry-after", "7"}}).asked_ms, 30);
  EXPECT_EQ(judge(429, "", {{"retry-after", "Sat, 15 Nov 2025 09:46:50 GMT"}}).asked_ms, 10'000);
  for (const char* wrong : {"", "0", "-3", "soon", "nan", "inf", "1e999", "Sat, 15 Nov 2025 09:00:00 GMT"})
    EXPECT_FALSE(judge(429, "", {{"retry-after", wrong}}).asked_ms) << wrong;
  EXPECT_EQ(judge(429, "", {{"retry-after", "7"}}).failure.retry_at, now + 7000);
}

TEST(Refusals, AWaitOfAnHourIsALimitOfUsage) {
  const Refusal refusal =
      judge(429, R"({"type":"error","error":{"type":"rate_limit_error","message":"x"}})", {{"retry-after", "3600"}});
  EXPECT_EQ(refusal.failure.kind, Kind::quota);
  EXPECT_FALSE(refusal.try_again);
  EXPECT_EQ(refusal.failure.retry_at, now + 3'600'000);
  // A busy server may ask for it too, and is not a quota.
  EXPECT_EQ(judge(503, "", {{"retry-after", "3600"}}).failure.kind, Kind::overloaded);
  EXPECT_FALSE(judge(503, "", {{"retry-after", "3600"}}).try_again);
}

TEST(Refusals, AreWorthAnotherTryAfterADayWhateverIsAsked) {
  const std::string_view body = R"({"error":{"message":"quota exceeded"}})";
  const Millis day = 24 * 3'600'000;
  for (const char* absurd : {"99999999999", "1e18", "Sat, 15 Nov 2098 09:46:50 GMT"})
    EXPECT_EQ(judge(429, body, {{"retry-after", absurd}}).failure.retry_at, now + day) << absurd;
  EXPECT_EQ(judge(429, body, {{"anthropic-ratelimit-unified-reset", "2098-11-15T12:00:00Z"}}).failure.retry_at,
            now + day);
  EXPECT_EQ(judge(429, body, {{"retry-after", "86399"}}).failure.retry_at, now + day - 1'000);
}

TEST(Refusals, AQuotaKnowsWhenItsLimitIsCountedAnew) {
  const std::string_view body =
      R"({"type":"error","error":{"type":"rate_limit_error","message":"usage limit reached"}})";
  EXPECT_EQ(judge(429, body,
                  {{"anthropic-ratelimit-requests-remaining", "5"},
                   {"anthropic-ratelimit-requests-reset", "2025-11-15T12:00:00Z"},
                   {"anthropic-ratelimit-tokens-remaining", "0"},
                   {"anthropic-ratelimit-tokens-reset", "2025-11-15T10:00:00Z"}})
                .failure.retry_at,
            parse_time("2025-11-15T10:00:00Z").value());
  EXPECT_EQ(judge(429, body, {{"anthropic-ratelimit-unified-reset", "1763210000"}}).failure.retry_at.ms,
            1'763'210'000'000);
  EXPECT_EQ(judge(429, body).failure.retry_at, Time{});
  EXPECT_EQ(judge(429, body, {{"anthropic-ratelimit-unified-reset", "rubbish"}}).failure.retry_at, Time{});
}

TEST(Refusals, InsideAStreamAreTriedOnlyBeforeTheFirstBlock) {
  const ProviderError busy{.type = "overloaded_error", .message = "Overloaded"};
  EXPECT_TRUE(judge_stream(busy, false).try_again);
  EXPECT_EQ(judge_stream(busy, false).failure.kind, Kind::overloaded);
  EXPECT_FALSE(judge_stream(busy, true).try_again);
  EXPECT_EQ(judge_stream(busy, true).failure.kind, Kind::cut);
  EXPECT_TRUE(judge_stream(busy, true).failure.retryable);
  const ProviderError long_one{.type = "invalid_request_error", .message = "prompt is too long"};
  EXPECT_EQ(judge_stream(long_one, false).failure.kind, Kind::context_too_long);
  EXPECT_FALSE(judge_stream(long_one, false).try_again);
  EXPECT_EQ(judge_stream({.code = "401", .message = "No"}, false).failure.kind, Kind::auth);
  EXPECT_EQ(judge_stream({.code = "insufficient_quota"}, true).failure.kind, Kind::quota);
  EXPECT_EQ(judge_stream({.message = "?", .malformed = true}, true).failure.kind, Kind::cut);
}

TEST(Refusals, OfTheNetworkAreTriedUnlessTheyStay) {
  EXPECT_TRUE(judge_network({Code::unavailable, "m", "connect"}, false).try_again);
  EXPECT_TRUE(judge_network({Code::unavailable, "m", "timeout"}, false).try_again);
  EXPECT_TRUE(judge_network({Code::unavailable, "m", "cut"}, false).try_again);
  EXPECT_FALSE(judge_network({Code::unavailable, "m", "cut"}, true).try_again);
  EXPECT_EQ(judge_network({Code::unavailable, "m", "cut"}, true).failure.kind, Kind::cut);
  EXPECT_FALSE(judge_network({Code::unavailable, "m", "tls"}, false).try_again);
  EXPECT_FALSE(judge_network({Code::unavailable, "m", "tls"}, false).failure.retryable);
}

TEST(Redact, TakesKeysOutOfWhatOthersWrote) {
  const Endpoint endpoint{Api::openai_chat,
                          "http://x",
                          "my-secret-key",
                          {{"authorization", "Bearer tok-en-1234"}, {"x-gateway", "gate-pass"}}};
  const std::string text = redact(
      "Incorrect API key provided: sk-proj-ab12****wxyz. You sent my-secret-key, tok-en-1234, gate-pass, Bearer "
      "abcdefgh, sk-ant-api03-AAAA_bbb; "
      "the risk-averse task-list is fine.",
      endpoint);
  for (const char* secret :
       {"my-secret-key", "tok-en-1234", "gate-pass", "sk-proj", "wxyz", "abcdefgh", "sk-ant", "AAAA_bbb"})
    EXPECT_FALSE(text.contains(secret)) << secret << ": " << text;
  EXPECT_TRUE(text.contains("the risk-averse task-list is fine.")) << text;
}

TEST(Backoff, IsThatOfTheOfficialClients) {
  const AskLimits limits;
  EXPECT_EQ(backoff(limits, 0, 0), 500);
  EXPECT_EQ(backoff(limits, 1, 0), 1000);
  EXPECT_EQ(backoff(limits, 4, 0), 8000);
  EXPECT_EQ(backoff(limits, 60, 0), 8000);
  EXPECT_EQ(backoff(limits, 0, 1), 375);
}

// ---- The environment and the catalog.

TEST(Environment, GivesTheEndpoint) {
  EXPECT_FALSE(endpoint_from_environment({}));
  auto endpoint = endpoint_from_environment({{"ANTHROPIC_API_KEY", "k"}});
  EXPECT_EQ(*endpoint, (Endpoint{Api::anthropic, "https://api.anthropic.com", "k", {}}));
  endpoint = endpoint_from_environment({{"ANTHROPIC_BASE_URL", "http://127.0.0.1:1"}});
  EXPECT_EQ(*endpoint, (Endpoint{Api::anthropic, "http://127.0.0.1:1", "", {}}));
  endpoint = endpoint_from_environment({{"ANTHROPIC_AUTH_TOKEN", "t"}});
  EXPECT_EQ(endpoint->headers.at("authorization"), "Bearer t");
  endpoint = endpoint_from_environment({{"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(*endpoint, (Endpoint{Api::openai_responses, "https://api.openai.com/v1", "k", {}}));
  endpoint = endpoint_from_environment({{"OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"}});
  EXPECT_EQ(*endpoint, (Endpoint{Api::openai_chat, "http://127.0.0.1:11434/v1", "", {}}));
  endpoint = endpoint_from_environment({{"OPENAI_BASE_URL", "https://eu.api.openai.com/v1"}, {"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(endpoint->api, Api::openai_responses);
  endpoint = endpoint_from_environment({{"OPENAI_BASE_URL", "https://notopenai.com/v1"}});
  EXPECT_EQ(endpoint->api, Api::openai_chat) << "only OpenAI's own host";
  // Both, and a word on which.
  const std::map<std::string, std::string> both = {{"ANTHROPIC_API_KEY", "a"}, {"OPENAI_API_KEY", "o"}};
  EXPECT_EQ(endpoint_from_environment(both)->api, Api::anthropic);
  auto chosen = both;
  chosen["ERRAND_MODEL_API"] = "openai_chat";
  EXPECT_EQ(*endpoint_from_environment(chosen), (Endpoint{Api::openai_chat, "https://api.openai.com/v1", "o", {}}));
  EXPECT_FALSE(endpoint_from_environment({{"OPENAI_API_KEY", "o"}, {"ERRAND_MODEL_API", "anthropic"}}));
}

TEST(Environment, AnswersWhoIsAskedWhereNobodyChose) {
  EXPECT_NE(default_model({Api::anthropic, "https://api.anthropic.com", "", {}}), "");
  EXPECT_NE(default_model({Api::openai_responses, "https://api.openai.com/v1", "", {}}), "");
  EXPECT_EQ(default_model({Api::openai_chat, "http://127.0.0.1:11434/v1", "", {}}), "");
}

TEST(Catalog, KnowsModelsByTheNamesTheyGoBy) {
  const ModelInfo sonnet = model_info("claude-sonnet-4-5-20250929");
  EXPECT_TRUE(sonnet.known);
  EXPECT_EQ(sonnet.context_tokens, 200'000);
  EXPECT_EQ(model_info("anthropic/claude-sonnet-4.5"), sonnet);
  EXPECT_EQ(model_info("us.anthropic.claude-sonnet-4-5-v1:0"), sonnet);
  EXPECT_EQ(model_info("GPT-5-mini").input_usd, 0.25);
  EXPECT_EQ(model_info("openai/gpt-5").input_usd, 1.25);
  EXPECT_EQ(model_info("gpt-5.9-later").input_usd, 0) << "no price rather than a wrong one";
  EXPECT_TRUE(model_info("gpt-5.9-later").known);
  const ModelInfo unknown = model_info("qwen3:8b");
  EXPECT_FALSE(unknown.known);
  EXPECT_EQ(unknown.context_tokens, 128'000);
  EXPECT_EQ(unknown.input_usd, 0);
}

TEST(Catalog, SettingsGoOverIt) {
  const auto info = with_options(model_info("x"), {{"context_tokens", "32768"}, {"input_usd", "0.5"}, {"other", "?"}});
  ASSERT_TRUE(info);
  EXPECT_EQ(info->context_tokens, 32768);
  EXPECT_EQ(info->input_usd, 0.5);
  for (const char* wrong : {"", "x", "-1", "1x", "nan", "inf"})
    EXPECT_FALSE(with_options({}, {{"input_usd", wrong}})) << wrong;
}

TEST(Catalog, CountsTheCost) {
  const ModelInfo info{.input_usd = 3, .output_usd = 15, .cache_read_usd = 0.3, .cache_write_usd = 3.75};
  EXPECT_DOUBLE_EQ(
      cost_usd(info, {.input = 1'000'000, .output = 100'000, .cache_read = 1'000'000, .cache_write = 1'000'000}),
      3 + 1.5 + 0.3 + 3.75);
  EXPECT_DOUBLE_EQ(cost_usd({.input_usd = 2}, {.cache_read = 500'000}), 1) << "unknown: as input";
  EXPECT_EQ(cost_usd({}, {.input = 5}), 0);
}

}  // namespace
}  // namespace errand::model
