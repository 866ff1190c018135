#include "cli/transcript.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

using What = Span::What;

std::vector<Span> take(Transcript& transcript, std::string_view json) {
  Result<EventInfo> event = parse_event(json);
  EXPECT_TRUE(event) << json;
  return event ? transcript.take(*event) : std::vector<Span>();
}

std::string text_of(const std::vector<Span>& spans) {
  std::string out;
  for (const Span& span : spans) out += span.text;
  return out;
}

TEST(Transcript, OutputKeepsItsStream) {
  Transcript transcript;
  EXPECT_EQ(take(transcript, R"({"type":"output","data":{"stream":"stdout","text":"a\n"}})"),
            (std::vector<Span>{{What::output, "a\n"}}));
  EXPECT_EQ(take(transcript, R"({"type":"output","data":{"stream":"stderr","text":"b\n"}})"),
            (std::vector<Span>{{What::error_output, "b\n"}}));
}

TEST(Transcript, OutputThatIsCutInsideALineGetsNothingAdded) {
  Transcript transcript;
  std::string out, error;
  for (const char* event : {R"({"type":"output","data":{"stream":"stdout","text":"12"}})",
                            R"({"type":"output","data":{"stream":"stderr","text":"oo"}})",
                            R"({"type":"output","data":{"stream":"stdout","text":"34\n5"}})",
                            R"({"type":"output","data":{"stream":"stderr","text":"ps\n"}})"})
    for (const Span& span : take(transcript, event)) (span.what == What::output ? out : error) += span.text;
  EXPECT_EQ(out, "1234\n5");
  EXPECT_EQ(error, "oops\n");
}

TEST(Transcript, ANoteBesideOutputBringsItsOwnNewline) {
  Transcript transcript;
  take(transcript, R"({"type":"output","data":{"stream":"stdout","text":"12"}})");
  EXPECT_EQ(take(transcript, R"({"type":"task.warning","data":{"text":"slow"}})"),
            (std::vector<Span>{{What::note, "\n"}, {What::note, "! slow\n"}}));
}

TEST(Transcript, DeltasAreNotSaidAgainWhenTheMessageIsComplete) {
  Transcript transcript;
  std::string all;
  all += text_of(
      take(transcript, R"({"type":"message.delta","data":{"message_id":"m","part":0,"type":"text","text":"Hel"}})"));
  all += text_of(
      take(transcript, R"({"type":"message.delta","data":{"message_id":"m","part":0,"type":"text","text":"lo"}})"));
  all += text_of(take(
      transcript,
      R"({"type":"message.completed","data":{"message":{"id":"m","role":"assistant","parts":[{"type":"text","text":"Hello, you"}]}}})"));
  EXPECT_EQ(all, "Hello, you\n");
}

TEST(Transcript, AMessageWithoutDeltasIsSaidWhole) {
  Transcript transcript;
  EXPECT_EQ(
      text_of(take(
          transcript,
          R"({"type":"message.completed","data":{"message":{"id":"m","role":"assistant","parts":[{"type":"text","text":"Hi"}]}}})")),
      "Hi\n");
}

TEST(Transcript, AUsersMessageIsToldOnce) {
  Transcript transcript;
  EXPECT_EQ(
      text_of(take(
          transcript,
          R"({"type":"message.created","data":{"message":{"id":"u","role":"user","parts":[{"type":"text","text":"do\nit"}]}}})")),
      "> do\n> it\n");
  EXPECT_EQ(
      text_of(take(
          transcript,
          R"({"type":"message.completed","data":{"message":{"id":"u","role":"user","parts":[{"type":"text","text":"do\nit"}]}}})")),
      "");
}

TEST(Transcript, ToolsBeginOnALineOfTheirOwn) {
  Transcript transcript;
  take(transcript, R"({"type":"message.delta","data":{"message_id":"m","part":0,"type":"text","text":"Let me look"}})");
  EXPECT_EQ(
      text_of(take(
          transcript,
          R"({"type":"tool.started","data":{"message_id":"m","call_id":"c","name":"bash","input":{"command":"ls -l"}}})")),
      "\n● bash ls -l\n");
  EXPECT_EQ(text_of(take(transcript,
                         R"({"type":"tool.completed","data":{"call_id":"c","output":"a\nb\nc","is_error":false}})")),
            "  → a (+2 lines)\n");
  EXPECT_EQ(
      text_of(take(transcript, R"({"type":"tool.completed","data":{"call_id":"d","output":"","is_error":true}})")),
      "  ✗ \n");
}

TEST(Transcript, QuestionsWarningsAndAnswersAreTold) {
  Transcript transcript;
  EXPECT_EQ(
      text_of(take(
          transcript,
          R"({"type":"ask.created","data":{"request_id":"r","kind":"answer","text":"Which?","options":["a","b"]}})")),
      "? Which? [a, b]\n");
  EXPECT_EQ(
      text_of(take(transcript, R"({"type":"ask.answered","data":{"request_id":"r","decision":"allow","by":"user"}})")),
      "  answered: allow by user\n");
  EXPECT_EQ(text_of(take(transcript, R"({"type":"task.warning","data":{"code":"idle","text":"No sign of life."}})")),
            "! No sign of life.\n");
}

TEST(Transcript, ReasoningIsToldApart) {
  Transcript transcript;
  std::vector<Span> spans =
      take(transcript, R"({"type":"message.delta","data":{"message_id":"m","part":0,"type":"reasoning","text":"hm"}})");
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].what, What::thought);
  spans = take(transcript, R"({"type":"message.delta","data":{"message_id":"m","part":1,"type":"text","text":"Yes"}})");
  EXPECT_EQ(text_of(spans), "\nYes");
}

TEST(Transcript, OddEventsSayNothing) {
  Transcript transcript;
  for (const char* json : {"{}", "[]", "null", R"({"type":"output"})", R"({"type":"message.completed","data":{}})",
                           R"({"type":"new.thing","data":{"x":1}})"})
    EXPECT_EQ(text_of(take(transcript, json)), "") << json;
}

TEST(InputSummary, PicksTheTellingArgument) {
  EXPECT_EQ(input_summary(R"({"timeout":5,"command":"make\ntest"})"), "make test");
  EXPECT_EQ(input_summary("{}"), "");
  EXPECT_EQ(input_summary(R"({"x":1})"), R"({"x":1})");
}

}  // namespace
}  // namespace errand::cli
