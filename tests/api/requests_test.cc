#include "api/requests.h"

#include <gtest/gtest.h>

#include "task/json_in.h"

namespace errand::api {
namespace {

using When = WaitingMessage::When;

template <class T>
std::string reason(const Result<T>& result) {
  return result ? "" : result.error().reason;
}

TEST(ParseMessage, TakesTheSeedsExample) {  // Seed 001: `content` is null.
  const auto message = parse_message(R"({"message": "Now add authentication", "content": null})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->text, "Now add authentication");
  EXPECT_EQ(message->content, "");
  EXPECT_EQ(message->when, When::steer);
}

TEST(ParseMessage, SaysWhen) {
  EXPECT_EQ(parse_message(R"({"message":"x","when":"queue"})")->when, When::queue);
  EXPECT_EQ(parse_message(R"({"message":"x","when":"interrupt"})")->when, When::interrupt);
  EXPECT_EQ(reason(parse_message(R"({"message":"x","when":"later"})")), "out_of_range");
}

TEST(ParseMessage, ContentIsParts) {
  const auto message = parse_message(R"({"content":[{"type":"text","text":"x"}]})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->text, "");
  EXPECT_EQ(decode_parts(message->content)->front().text, "x");
}

TEST(ParseMessage, RefusesWhatIsNotOne) {
  EXPECT_EQ(reason(parse_message("")), "bad_json");
  EXPECT_EQ(reason(parse_message("{}")), "missing_field");
  EXPECT_EQ(reason(parse_message(R"({"message":""})")), "empty");
  EXPECT_EQ(reason(parse_message(R"({"message":"x","to":"y"})")), "unknown_field");
  EXPECT_EQ(reason(parse_resume(R"({"message":"x","when":"queue"})")), "unknown_field");
}

TEST(ParseRetry, MayBeEmptyOrHaveAMessage) {
  EXPECT_EQ(parse_retry("")->has_value(), false);
  EXPECT_EQ(parse_retry("{}")->has_value(), false);
  EXPECT_EQ(parse_retry(R"({"message":null})")->has_value(), false);
  EXPECT_EQ((*parse_retry(R"({"message":"again"})"))->text, "again");
  EXPECT_EQ(reason(parse_retry(R"({"note":"again"})")), "unknown_field");
}

TEST(ParseAnswer, IsADecisionOrAnAnswer) {
  const auto allowed = parse_answer(R"({"request_id":"req_1","decision":"allow_always","message":"fine"})");
  ASSERT_TRUE(allowed);
  EXPECT_EQ(allowed->request_id, "req_1");
  EXPECT_EQ(allowed->decision, "allow_always");
  EXPECT_EQ(allowed->message, "fine");
  const auto answered = parse_answer(R"({"request_id":"req_1","answer":""})");
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->decision, "answer");
  EXPECT_EQ(answered->message, "");
  EXPECT_EQ(reason(parse_answer(R"({"decision":"allow"})")), "missing_field");
  EXPECT_EQ(reason(parse_answer(R"({"request_id":"r"})")), "invalid_field");
  EXPECT_EQ(reason(parse_answer(R"({"request_id":"r","decision":"allow","answer":"x"})")), "invalid_field");
  EXPECT_EQ(reason(parse_answer(R"({"request_id":"r","answer":"x","message":"y"})")), "invalid_field");
  EXPECT_EQ(reason(parse_answer(R"({"request_id":"r","decision":"perhaps"})")), "out_of_range");
}

TEST(ParseClear, NamesAtMostOneThing) {
  EXPECT_EQ(parse_clear(R"({"batch_id":"b"})")->batch, BatchId("b"));
  EXPECT_EQ(parse_clear(R"({"task_id":"t"})")->task, TaskId("t"));
  EXPECT_EQ(parse_clear(R"({"parent_session_id":"s"})")->parent_session, SessionId("s"));
  EXPECT_TRUE(parse_clear(""));
  EXPECT_EQ(reason(parse_clear(R"({"batch_id":"b","task_id":"t"})")), "invalid_field");
  EXPECT_EQ(reason(parse_clear(R"({"batch":"b"})")), "unknown_field");
  EXPECT_EQ(reason(parse_clear(R"({"batch_id":""})")), "empty");
}

TEST(ParseSession, MayBringItsOwnId) {
  EXPECT_EQ(parse_session("")->origin, "rest");
  const auto session = parse_session(R"({"id":"my-session:1","title":"Mine"})");
  ASSERT_TRUE(session);
  EXPECT_EQ(session->id, SessionId("my-session:1"));
  EXPECT_EQ(session->title, "Mine");
  EXPECT_EQ(reason(parse_session(R"({"id":"../x"})")), "invalid_field");
  EXPECT_EQ(reason(parse_session(R"({"id":"x","origin":"task"})")), "unknown_field");
}

TEST(ParseNothing, TakesNothing) {
  EXPECT_TRUE(parse_nothing(""));
  EXPECT_TRUE(parse_nothing("{}"));
  EXPECT_EQ(reason(parse_nothing(R"({"force":true})")), "unknown_field");
  EXPECT_EQ(reason(parse_nothing("[]")), "wrong_type");
}

TEST(IdempotencyKey, IsQuotedOrBare) {
  EXPECT_EQ(*parse_idempotency_key("\"8e03978e-40d5\""), "8e03978e-40d5");
  EXPECT_EQ(*parse_idempotency_key(" 8e03978e-40d5 "), "8e03978e-40d5");
  for (const char* wrong : {"", "\"\"", "a b", "\"a\"b\"", "é", "a\tb"}) {
    EXPECT_FALSE(parse_idempotency_key(wrong)) << wrong;
  }
  EXPECT_TRUE(parse_idempotency_key(std::string(200, 'k')));
  EXPECT_FALSE(parse_idempotency_key(std::string(201, 'k')));
}

TEST(ParseEdit, TakesWhatIsGivenAndRefusesTheRest) {
  const auto edit = parse_edit(R"({"title":"New","labels":{"a":"b","c":null},"pinned":false})");
  ASSERT_TRUE(edit) << edit.error().message;
  EXPECT_EQ(edit->title, "New");
  EXPECT_EQ(edit->labels, (std::map<std::string, std::optional<std::string>>{{"a", "b"}, {"c", std::nullopt}}));
  EXPECT_EQ(edit->pinned, false);
  EXPECT_EQ(edit->archived, std::nullopt);
  for (const char* body : {"{}", R"({"title":""})", R"({"title":"\u200b"})", R"({"pinned":"yes"})", R"({"labels":[]})",
                           R"({"labels":{"":"x"}})", R"({"labels":{"a":1}})", R"({"status":"failed"})", "[]", ""})
    EXPECT_FALSE(parse_edit(body)) << body;
}

}  // namespace
}  // namespace errand::api
