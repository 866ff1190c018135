// Results, refusals and deaths of the program, as outcomes that say what to do.
#include "driver/claude/outcome.h"

#include <fstream>

#include <gtest/gtest.h>

namespace errand::claude {
namespace {

Event result_of(const std::string& name) {
  std::ifstream in(std::string(FIXTURES) + "/" + name + ".jsonl");
  Event last;
  for (std::string line; std::getline(in, line);)
    if (Event event = parse_line(line); event.type == Event::Type::result) last = event;
  EXPECT_EQ(last.type, Event::Type::result) << name;
  return last;
}

TEST(ClaudeOutcome, AResultIsWhatItSaidLastAndWhatItUsed) {
  const Event result = result_of("edit");
  EXPECT_EQ(outcome_of(result).kind, Outcome::Kind::completed);
  EXPECT_EQ(outcome_of(result).result, "All done.");
  EXPECT_EQ(result.used, (Usage{.input_tokens = 75, .output_tokens = 36, .cost_usd = 0.00102}));
}

// An API error comes as subtype "success".
TEST(ClaudeOutcome, IsErrorDecidesAndNotTheSubtype) {
  const Event result = result_of("limit");
  EXPECT_EQ(result.subtype, "success");
  EXPECT_TRUE(is_usage_limit(result));
  EXPECT_EQ(outcome_of(result).kind, Outcome::Kind::failed);
}

TEST(ClaudeOutcome, AMissingLoginNamesTheWayToOne) {
  const Outcome outcome = outcome_of(result_of("nologin"));
  EXPECT_EQ(outcome.error->code, "login_required");
  EXPECT_TRUE(outcome.error->message.contains("Not logged in")) << outcome.error->message;
  EXPECT_TRUE(outcome.error->message.contains("/login")) << outcome.error->message;
  EXPECT_TRUE(outcome.error->message.contains("ANTHROPIC_API_KEY")) << outcome.error->message;
}

TEST(ClaudeOutcome, WhenALimitEndsIsReadWhereItIsSaid) {
  EXPECT_EQ(reset_time("Claude AI usage limit reached|1760000000"), Time{1'760'000'000'000});
  EXPECT_EQ(reset_time("usage limit reached|tomorrow"), Time{});
  EXPECT_EQ(reset_time("usage limit reached|99999999999999"), Time{});
  EXPECT_EQ(reset_time("usage limit reached"), Time{});
  const Event event = parse_line(
      R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1760000000,"rateLimitType":"five_hour"}})");
  EXPECT_TRUE(event.rejected);
  EXPECT_EQ(event.resets, Time{1'760'000'000'000});
}

lines::End end_of(process::RunEnd run, std::string last_words = {}) {
  return {.how = lines::End::How::ended, .error = {}, .run = std::move(run), .last_words = std::move(last_words)};
}

TEST(ClaudeOutcome, WhoDiedSaysHow) {
  const Outcome killed = outcome_of(end_of({.how = process::RunEnd::How::signalled, .signal = 9}));
  EXPECT_EQ(killed.kind, Outcome::Kind::failed);
  EXPECT_EQ(killed.error->code, "agent_died");
  EXPECT_EQ(killed.signal, 9);
  EXPECT_TRUE(killed.error->message.contains("errand retry"));
  const Outcome exited = outcome_of(end_of({.exit_code = 3}, "no such option\n"));
  EXPECT_EQ(exited.exit_code, 3);
  EXPECT_TRUE(exited.error->message.contains("no such option"));
}

TEST(ClaudeOutcome, RefusalsNameWhatToChange) {
  const Outcome root = outcome_of(
      end_of({.exit_code = 1},
             "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"));
  EXPECT_EQ(root.error->code, "root_refused");
  EXPECT_TRUE(root.error->message.contains("permission_mode"));
  EXPECT_EQ(outcome_of(end_of({.exit_code = 1}, "No conversation found with session ID: x")).error->code,
            "session_gone");
  EXPECT_EQ(outcome_of(end_of({.how = process::RunEnd::How::lost, .text = "gone"})).kind, Outcome::Kind::lost);
  const Outcome missing =
      outcome_of(lines::End{.how = lines::End::How::not_started,
                            .error = {Code::unavailable, "/x/claude does not exist", "spawn_failed"},
                            .run = {},
                            .last_words = {}});
  EXPECT_EQ(missing.error->code, "spawn_failed");
  EXPECT_TRUE(missing.error->message.contains("npm install"));
}

}  // namespace
}  // namespace errand::claude
