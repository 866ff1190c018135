// What is changed in a copy of a session, so that it is a fork (R6.2 to R6.5).
#include "driver/opencode/fork_plan.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.h"

namespace errand::opencode {
namespace {

namespace json = boost::json;

const Launched launched{TaskId("task_x"), "go and look"};

json::value text_part(const std::string& id, const std::string& text) {
  return {{"id", id}, {"sessionID", "ses_1"}, {"messageID", "m"}, {"type", "text"}, {"text", text}};
}

json::value tool_part(const std::string& id, const std::string& tool, json::value state) {
  return {{"id", id},     {"sessionID", "ses_1"},     {"messageID", "m"}, {"type", "tool"}, {"callID", "call_" + id},
          {"tool", tool}, {"state", std::move(state)}};
}

json::value done(const std::string& output, json::value input = json::object()) {
  return {{"status", "completed"},
          {"input", std::move(input)},
          {"output", output},
          {"title", "t"},
          {"metadata", {{"output", output}, {"exit", 0}}},
          {"time", {{"start", 1}, {"end", 2}}}};
}

json::value message(const std::string& id, const std::string& role, json::array parts) {
  json::object info = {{"id", id}, {"sessionID", "ses_1"}, {"role", role}, {"agent", "plan"}};
  if (role == "user")
    info["model"] = {{"providerID", "p"}, {"modelID", "a/b"}};
  else
    info["providerID"] = "p", info["modelID"] = "a/b";
  return {{"info", info}, {"parts", std::move(parts)}};
}

std::vector<MessageSeen> session(json::array messages) { return parse_messages(json::serialize(messages)).value(); }

ForkPlan plan(const std::vector<MessageSeen>& copy, size_t keep, const fork::Limits& limits = {}) {
  Result<ForkPlan> made = plan_fork(copy, keep, launched, limits);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : ForkPlan{};
}

TEST(ForkPlan, LeavesAShortConversationAsItIs) {
  const auto copy =
      session({message("m1", "user", {text_part("p1", "hello")}),
               message("m2", "assistant", {tool_part("p2", "bash", done("short")), text_part("p3", "hi")})});
  const ForkPlan made = plan(copy, 2);
  EXPECT_TRUE(made.edits.empty());
  EXPECT_EQ(made.messages_kept, 2);
  EXPECT_EQ(made.agent, "plan");
  EXPECT_EQ(made.model, "p/a/b");
  EXPECT_NE(made.preamble.find("cut"), std::string::npos);
}

TEST(ForkPlan, CutsALongResultAndKeepsTheRestOfThePart) {
  std::string lines;
  for (int i = 0; i < 3'000; ++i) lines += "语";
  const auto copy = session({message("m1", "assistant", {tool_part("p1", "bash", done(lines, {{"command", "ls"}}))})});
  const ForkPlan made = plan(copy, 1);
  ASSERT_EQ(made.edits.size(), 1U);
  EXPECT_EQ(made.edits[0].method, "PATCH");
  EXPECT_EQ(made.edits[0].path, "m1/part/p1");
  const json::value part = json::parse(made.edits[0].body);
  const std::string output(part.at("state").at("output").as_string());
  EXPECT_EQ(first_characters(output, 1'500), std::string_view(lines).substr(0, 4'500));
  EXPECT_NE(output.find("3,000 characters"), std::string::npos);
  EXPECT_EQ(part.at("callID").as_string(), "call_p1");
  EXPECT_EQ(part.at("tool").as_string(), "bash");
  EXPECT_EQ(part.at("state").at("input").at("command").as_string(), "ls");
  EXPECT_FALSE(part.at("state").at("metadata").as_object().contains("output")) << "the whole is nowhere else";
}

TEST(ForkPlan, WhatCameAfterTheLaunchGoes) {
  const auto copy = session({message("m1", "user", {text_part("p1", "hello")}),
                             message("m2", "assistant", {text_part("p2", "later")}),
                             message("m3", "user", {text_part("p3", "later still")})});
  const ForkPlan made = plan(copy, 1);
  EXPECT_EQ(made.edits, (std::vector<Edit>{{"DELETE", "m2", ""}, {"DELETE", "m3", ""}}));
}

TEST(ForkPlan, TheLaunchingCallIsSettledWhetherOrNotItHasEnded) {
  const json::value running = {{"status", "running"}, {"input", {{"prompt", "go and look"}}}, {"time", {{"start", 5}}}};
  const json::value other = {{"status", "running"}, {"input", {{"prompt", "another"}}}, {"time", {{"start", 5}}}};
  for (const json::value& state : {running, done("Started task_x.", {{"prompt", "go and look"}})}) {
    const auto copy = session({message(
        "m1", "assistant", {tool_part("p1", "background_task", state), tool_part("p2", "background_task", other)})});
    const ForkPlan made = plan(copy, 1);
    ASSERT_EQ(made.edits.size(), 2U);
    const json::value own = json::parse(made.edits[0].body), neighbour = json::parse(made.edits[1].body);
    EXPECT_EQ(made.edits[0].path, "m1/part/p1");
    EXPECT_EQ(own.at("state").at("status").as_string(), "completed");
    EXPECT_NE(own.at("state").at("output").as_string().find("you are that fork"), json::string::npos);
    EXPECT_NE(neighbour.at("state").at("output").as_string().find("No result"), json::string::npos);
    EXPECT_TRUE(own.at("state").at("time").at("end").is_int64());
  }
}

TEST(ForkPlan, OverTheLimitTheOldestGo) {
  json::array messages;
  for (int i = 0; i < 20; ++i) {
    std::string words;
    for (int k = 0; k < 100; ++k) words += "word" + std::to_string(k) + " ";
    messages.push_back(message("m" + std::to_string(i), i % 2 == 0 ? "user" : "assistant", {text_part("p", words)}));
  }
  const ForkPlan made = plan(session(messages), 20, {.tokens = 2'000});
  ASSERT_FALSE(made.edits.empty());
  EXPECT_LT(made.edits.size(), 20U);
  for (size_t i = 0; i < made.edits.size(); ++i)
    EXPECT_EQ(made.edits[i], (Edit{"DELETE", "m" + std::to_string(i), ""}));
  EXPECT_EQ(made.messages_kept + std::ssize(made.edits), 20);
}

TEST(ForkPlan, OfOneMessageThatIsTooLongTheFrontGoes) {
  json::array parts;
  for (int i = 0; i < 400; ++i)
    parts.push_back(text_part("p" + std::to_string(i), "some words of part " + std::to_string(i)));
  const ForkPlan made = plan(session({message("m1", "user", parts)}), 1, {.tokens = 1'000});
  ASSERT_FALSE(made.edits.empty());
  EXPECT_EQ(made.edits[0].path, "m1/part/p0");
  EXPECT_EQ(made.edits[0].method, "DELETE");
  EXPECT_EQ(made.messages_kept, 1);
}

TEST(ForkPlan, AMessageOfOtherPartsStays) {
  const json::value compaction = {{"id", "p1"}, {"type", "compaction"}, {"auto", true}};
  const auto copy =
      session({message("m1", "user", {compaction}), message("m2", "assistant", {text_part("p2", "sum")})});
  EXPECT_TRUE(plan(copy, 2).edits.empty());
}

TEST(ForkPlan, TakesWhateverIsThere) {
  for (const char* odd :
       {R"([])", R"([{}])", R"([{"info":{"id":"m1"},"parts":[{"type":"tool"},{"type":"tool","state":5},3,null]}])",
        R"([{"info":null,"parts":[{"type":"file"}]}])"})
    EXPECT_TRUE(plan_fork(parse_messages(odd).value(), 9, launched, {})) << odd;
}

}  // namespace
}  // namespace errand::opencode
