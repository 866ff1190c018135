// What OpenCode said, recorded, as reports; and that it comes to the same however it was cut, repeated or read again.
#include "driver/opencode/translate.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/id.h"
#include "tests/contract/shown_reports.h"

namespace errand::opencode {

namespace {

std::vector<std::string> lines_of(const std::string& name) {
  return test::lines_of(std::string(FIXTURES) + "/" + name);
}

std::string shown(const std::vector<Report>& reports) {
  return test::shown_reports(reports, [](const Report& report) -> std::string {
    if (const auto* tool = std::get_if<report::ToolStarted>(&report))
      return std::to_string(tool->part) + " " + tool->name + " " + tool->input + " (" + tool->summary + ")";
    if (const auto* done = std::get_if<report::ToolCompleted>(&report))
      return std::string(done->is_error ? "failed: " : "done: ") + done->output;
    if (const auto* used = std::get_if<report::Used>(&report))
      return "used " + std::to_string(used->usage.input_tokens) + " " + std::to_string(used->usage.output_tokens);
    return {};
  });
}

void feed(Translator& translator, const std::vector<std::string>& lines, std::vector<Report>& out) {
  for (const std::string& line : lines)
    if (const std::optional<Event> event = parse_event(line)) translator.take(*event, out);
}

// The session as it would be read after these events.
std::vector<MessageSeen> read_after(const std::vector<std::string>& lines) {
  std::vector<MessageSeen> messages;
  for (const std::string& line : lines) {
    const std::optional<Event> event = parse_event(line);
    if (!event) continue;
    const auto of = [&](const std::string& id) {
      const auto found =
          std::ranges::find_if(messages, [&](const MessageSeen& message) { return message.info.id == id; });
      return found == messages.end() ? nullptr : &*found;
    };
    if (event->type == Event::Type::message) {
      if (MessageSeen* message = of(event->info.id))
        message->info = event->info;
      else
        messages.push_back({event->info, {}});
    }
    MessageSeen* message = of(event->part.message_id);
    if (!message) continue;
    const auto part = std::ranges::find(message->parts, event->part.id, &Part::id);
    if (event->type == Event::Type::delta && part != message->parts.end()) part->text += event->part.text;
    if (event->type != Event::Type::part) continue;
    if (part == message->parts.end())
      message->parts.push_back(event->part);
    else
      *part = event->part;
  }
  return messages;
}

constexpr const char* shell_then_answer =
    R"(began
0 bash {"command":"echo hi; sleep 0.3; echo there"} (echo hi; sleep 0.3; echo there)
done: hi
there

used 25 12
ended
began
0 says: Final answer.
used 25 12
ended
)";

}  // namespace

TEST(OpencodeTranslate, AToolAndAnAnswer) {
  Translator translator;
  std::vector<Report> reports;
  feed(translator, lines_of("shell_then_answer.jsonl"), reports);
  EXPECT_EQ(shown(reports), shell_then_answer);
}

TEST(OpencodeTranslate, WhatComesTwiceIsReportedOnce) {
  std::vector<std::string> twice;
  for (const std::string& line : lines_of("shell_then_answer.jsonl")) {
    twice.push_back(line);
    // Pieces of text come once: what repeats them is reading the whole.
    if (line.find("message.part.delta") == std::string::npos) twice.push_back(line);
  }
  Translator translator;
  std::vector<Report> reports;
  feed(translator, twice, reports);
  feed(translator, twice, reports);
  EXPECT_EQ(shown(reports), shell_then_answer);
}

// The stream is lost at any event, some are missed, the session is read again, and it goes on.
TEST(OpencodeTranslate, ALostStreamLosesAndRepeatsNothing) {
  const std::vector<std::string> lines = lines_of("shell_then_answer.jsonl");
  for (size_t lost = 0; lost <= lines.size(); ++lost) {
    for (size_t back = lost; back <= lines.size(); ++back) {
      SCOPED_TRACE(testing::Message() << "lost at " << lost << ", back at " << back);
      Translator translator;
      std::vector<Report> reports;
      feed(translator, {lines.begin(), lines.begin() + static_cast<ptrdiff_t>(lost)}, reports);
      translator.missed();
      translator.take(read_after({lines.begin(), lines.begin() + static_cast<ptrdiff_t>(back)}), reports);
      feed(translator, {lines.begin() + static_cast<ptrdiff_t>(back), lines.end()}, reports);
      EXPECT_EQ(shown(reports), shell_then_answer);
    }
  }
}

// The server dies at any event, and the next one goes on from the mark.
TEST(OpencodeTranslate, TakenUpFromItsMarkItGoesOn) {
  const std::vector<std::string> lines = lines_of("shell_then_answer.jsonl");
  for (size_t died = 0; died <= lines.size(); ++died) {
    SCOPED_TRACE(testing::Message() << "died at " << died);
    Translator first;
    std::vector<Report> reports;
    feed(first, {lines.begin(), lines.begin() + static_cast<ptrdiff_t>(died)}, reports);
    Translator second = Translator::from(first.mark());
    EXPECT_EQ(second.mark(), first.mark());
    second.take(read_after(lines), reports);
    EXPECT_EQ(shown(reports), shell_then_answer);
  }
}

TEST(OpencodeTranslate, WhatIsOpenAtTheEndIsClosed) {
  const std::vector<std::string> lines = lines_of("shell_then_answer.jsonl");
  Translator translator;
  std::vector<Report> reports;
  feed(translator, {lines.begin(), lines.begin() + 9}, reports);
  translator.close(reports);
  translator.close(reports);
  EXPECT_EQ(shown(reports), R"(began
0 bash {"command":"echo hi; sleep 0.3; echo there"} (echo hi; sleep 0.3; echo there)
failed: [The call was interrupted.]
ended
)");
}

TEST(OpencodeTranslate, EarlierMessagesAreNotThisTurns) {
  const std::vector<MessageSeen> all = read_after(lines_of("shell_then_answer.jsonl"));
  Translator translator(all.back().info.id);
  std::vector<Report> reports;
  translator.take(all, reports);
  EXPECT_TRUE(reports.empty());
}

TEST(OpencodeTranslate, TheOutcomeIsTheLastAnswer) {
  std::vector<MessageSeen> all = read_after(lines_of("shell_then_answer.jsonl"));
  const Outcome good = outcome_of(all, all.front().info.id, false);
  EXPECT_EQ(good.kind, Outcome::Kind::completed);
  EXPECT_EQ(good.result, "Final answer.");
  EXPECT_EQ(outcome_of(all, all.front().info.id, true).kind, Outcome::Kind::stopped);
  EXPECT_EQ(outcome_of(all, all.back().info.id, false).kind, Outcome::Kind::lost) << "no answer";
  all.back().info.error_name = "APIError";
  all.back().info.error_text = "no such model";
  all.back().info.error_status = 404;
  const Outcome bad = outcome_of(all, all.front().info.id, false);
  EXPECT_EQ(bad.kind, Outcome::Kind::failed);
  EXPECT_EQ(bad.error->message, "no such model");
  EXPECT_EQ(bad.error->details, R"({"error":"APIError","http_status":404})");
}

TEST(OpencodeWire, WhatIsNoEventIsNothing) {
  for (const char* text :
       {"", "{", "[]", "null", "{}", R"({"payload":{}})", R"({"payload":{"type":"sync","syncEvent":{}}})"})
    EXPECT_FALSE(parse_event(text)) << text;
  const auto odd = parse_event(R"({"payload":{"type":"message.updated","properties":{"info":{"id":7,"time":"x"}}}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->info.id, "");
  EXPECT_EQ(parse_event(R"({"payload":{"type":"what.ever"}})")->type, Event::Type::other);
}

TEST(OpencodeWire, AsksAndStates) {
  const auto asked = parse_event(
      R"({"payload":{"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["rm *"]}}})");
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->type, Event::Type::permission);
  EXPECT_EQ(asked->request.id, "per_1");
  EXPECT_EQ(asked->request.patterns, std::vector<std::string>{"rm *"});
  EXPECT_TRUE(is_busy(R"({"ses_1":{"type":"busy"}})", "ses_1"));
  EXPECT_FALSE(is_busy(R"({"ses_1":{"type":"busy"}})", "ses_2"));
  EXPECT_FALSE(is_busy("{}", "ses_1"));
}

TEST(OpencodeWire, PromptsAndIds) {
  EXPECT_EQ(
      prompt_body({.message_id = "msg_1", .text = "hi", .model = "a/b/c", .agent = "plan"}),
      R"({"messageID":"msg_1","model":{"providerID":"a","modelID":"b/c"},"agent":"plan","parts":[{"type":"text","text":"hi"}]})");
  EXPECT_EQ(prompt_body({.text = "note", .no_reply = true}),
            R"({"noReply":true,"parts":[{"type":"text","text":"note","synthetic":true}]})");
  SeededRandom random(1);
  // As OpenCode makes them: recorded at this time.
  EXPECT_TRUE(make_message_id(Time{1794726370506}, random).starts_with("msg_1de071cca000"));
  EXPECT_EQ(make_message_id(Time{1794726370506}, random).size(), 30u);
}

}  // namespace errand::opencode
