#include "driver/acp/limit.h"

#include <gtest/gtest.h>

namespace errand::acp {
namespace {

constexpr Time now{1'760'000'000'000};

std::optional<Limit> of(int64_t code, std::string message, std::string details = {}) {
  return limit_in({.code = code, .message = std::move(message), .details = std::move(details)}, now);
}
Millis wait(int64_t code, std::string message, std::string details = {}) {
  const std::optional<Limit> limit = of(code, std::move(message), std::move(details));
  return limit && limit->until ? limit->until - now : -1;
}

TEST(AcpLimit, R4_5_IsReadFromStatusesNamesAndWords) {
  EXPECT_TRUE(of(429, "no"));
  EXPECT_TRUE(of(-32603, "API Error: 429 You hit your limit."));
  EXPECT_TRUE(of(-32603, "Internal error", R"({"error":{"type":"rate_limit_error","message":"x"}})"));
  EXPECT_TRUE(of(-32603, "no", R"({"errors":[{"status":"RESOURCE_EXHAUSTED"}]})"));
  EXPECT_TRUE(of(-32603, "no", R"({"statusCode":429})"));
  EXPECT_TRUE(of(-32603, "You've hit your usage limit."));
  EXPECT_TRUE(of(400, "Too Many Requests"));
}

TEST(AcpLimit, OtherErrorsAreNone) {
  EXPECT_FALSE(of(-32603, "the model says no"));
  EXPECT_FALSE(of(-32603, "line 4290 is wrong", R"({"status":400,"code":"invalid"})"));
  EXPECT_FALSE(of(-32000, "Authentication required"));
  EXPECT_FALSE(of(-32603, "no", "{\"broken"));
  EXPECT_FALSE(of(-32603, "", std::string(20'000, '[')));
}

TEST(AcpLimit, ItsEndIsReadWhereItIsSaid) {
  EXPECT_EQ(wait(429, "no"), -1);
  EXPECT_EQ(wait(429, "no", R"({"resets_in_seconds":90})"), 90'000);
  EXPECT_EQ(wait(429, "no", R"({"details":[{"retryDelay":"34.5s"}]})"), 34'500);
  EXPECT_EQ(wait(429, "no", R"({"resetsAt":1760003600})"), 3'600'000) << "seconds";
  EXPECT_EQ(wait(429, "no", R"({"resets_at":1760003600000})"), 3'600'000) << "milliseconds";
  EXPECT_EQ(wait(429, "Claude AI usage limit reached|1760000060"), 60'000);
  EXPECT_EQ(wait(429, "Please try again in 1 hour 20 minutes."), 4'800'000);
  EXPECT_EQ(wait(429, "retry in 34.07s"), 34'070);
  EXPECT_EQ(wait(429, "Try again in 3 days, 5h and 2 min"), (3 * 86'400 + 5 * 3'600 + 120) * 1'000);
}

TEST(AcpLimit, WhatIsNoTimeIsNone) {
  EXPECT_EQ(wait(429, "no", R"({"resets_at":1})"), -1) << "it is over";
  EXPECT_EQ(wait(429, "no", R"({"retry_after":-5})"), -1);
  EXPECT_EQ(wait(429, "no", R"({"retry_after":1e300})"), -1);
  EXPECT_EQ(wait(429, "try again in a while, in 12 parsecs? in the end"), -1);
  EXPECT_EQ(wait(429, "limit reached|tomorrow"), -1);
}

}  // namespace
}  // namespace errand::acp
