// Rules of a fork that need more than a data file: limits at their real size, and what holds of any conversation.
#include "fork/fork.h"

#include <gtest/gtest.h>

#include "fork/conversation_test.h"

namespace errand::fork {
namespace {

Message message(std::string id, Role role, std::vector<Part> parts) {
  return {.id = MessageId(std::move(id)), .role = role, .parts = std::move(parts)};
}
Part text(std::string value) { return {.type = PartType::text, .text = std::move(value)}; }
Part call(std::string id, std::string name = "read", std::string input = "{}") {
  return {.type = PartType::tool_call, .call_id = std::move(id), .name = std::move(name), .input = std::move(input)};
}
Part result(std::string id, std::string value) {
  return {.type = PartType::tool_result, .text = std::move(value), .call_id = std::move(id)};
}
std::string repeated(std::string_view what, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += what;
  return out;
}

TEST(Fork, CutsToolResultsAt1500CharactersAndSaysTheOriginalLength) {
  const Result<Prepared> out =
      prepare({message("m1", Role::assistant,
                       {call("c1", "read", R"({"path":"a/very/long/path"})"), result("c1", repeated("é", 1'501))})},
              {}, {}, {});
  ASSERT_TRUE(out);
  const Part& cut = out->messages.at(0).parts.at(1);
  EXPECT_TRUE(cut.text.starts_with(repeated("é", 1'500) + "\n["));
  EXPECT_NE(cut.text.find("1,501 characters"), std::string::npos) << cut.text;
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.size, 3'002);
  EXPECT_EQ(out->results_cut, 1);
  EXPECT_EQ(out->messages[0].parts[0], call("c1", "read", R"({"path":"a/very/long/path"})"));
  EXPECT_NE(out->preamble.find("1,500"), std::string::npos);
}

TEST(Fork, LeavesAToolResultOf1500CharactersWhole) {
  const std::string whole = repeated("语", 1'500);
  const Result<Prepared> out = prepare({message("m1", Role::assistant, {call("c1"), result("c1", whole)})}, {}, {}, {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages.at(0).parts.at(1).text, whole);
  EXPECT_EQ(out->results_cut, 0);
}

TEST(Fork, Over100000TokensTheOldestMessagesGoAndTheNewestStay) {
  std::vector<Message> history;
  for (int i = 0; i < 400; ++i)
    history.push_back(message("m" + std::to_string(i), i % 2 == 0 ? Role::user : Role::assistant,
                              {text("number " + std::to_string(i) + repeated(" the quick test", 200))}));
  const Result<Prepared> out = prepare(history, {}, {}, {});
  ASSERT_TRUE(out);
  EXPECT_LE(out->tokens, 100'000);
  EXPECT_GT(out->tokens, 97'000) << "no more went than had to";
  EXPECT_EQ(out->messages.back(), history.back());
  EXPECT_EQ(static_cast<size_t>(out->messages_dropped), history.size() - out->messages.size());
  EXPECT_EQ(out->messages.front(), history[static_cast<size_t>(out->messages_dropped)]);
  EXPECT_NE(out->preamble.find(std::to_string(out->messages_dropped)), std::string::npos);
}

TEST(Fork, UnderTheLimitNothingGoes) {
  std::vector<Message> history;
  for (int i = 0; i < 300; ++i) history.push_back(message("m" + std::to_string(i), Role::user, {text("hello")}));
  const Result<Prepared> out = prepare(history, {}, {}, {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages, history);
  EXPECT_EQ(out->messages_dropped, 0);
}

TEST(Fork, ACallAndItsResultInALaterMessageGoTogether) {
  std::vector<Message> history = {
      message("m1", Role::assistant, {call("c1")}),
      message("m2", Role::user, {text(repeated("long ago ", 700))}),
      message("m3", Role::user, {result("c1", "late"), text("new")}),
  };
  const Result<Prepared> out = prepare(history, {}, {}, {.tokens = 1'000});
  ASSERT_TRUE(out);
  ASSERT_EQ(out->messages.size(), 2u);
  EXPECT_EQ(out->messages[1].parts, std::vector{text("new")});
}

TEST(Fork, AMessageThatIsTooLongAloneHasItsLargestPartsCut) {
  const std::vector<Message> history = {
      message("m1", Role::user, {text("old")}),
      message("m2", Role::user,
              {text("first"), text(repeated("many words here ", 60'000)), text("the question at the end")})};
  const Result<Prepared> out = prepare(history, {}, {}, {});
  ASSERT_TRUE(out);
  ASSERT_EQ(out->messages.size(), 1u);
  const std::vector<Part>& parts = out->messages[0].parts;
  EXPECT_EQ(parts.at(0).text, "first");
  EXPECT_EQ(parts.at(2).text, "the question at the end");
  EXPECT_TRUE(parts.at(1).text.starts_with("many words"));
  EXPECT_NE(parts.at(1).text.find("of 960,000 characters"), std::string::npos);
  EXPECT_LE(out->tokens, 100'000);
  EXPECT_GT(out->tokens, 90'000);
  EXPECT_EQ(out->parts_cut, 1);
}

TEST(Fork, ACallWithEndlessArgumentsIsCutToValidJson) {
  const std::string input = R"({"text":")" + repeated("word \\\"quoted\\\" ", 60'000) + R"("})";
  const Result<Prepared> out = prepare({message("m1", Role::assistant, {call("c1", "write", input)})}, {}, {}, {});
  ASSERT_TRUE(out);
  const Part& cut = out->messages.at(0).parts.at(0);
  EXPECT_EQ(cut.name, "write");
  EXPECT_EQ(cut.call_id, "c1");
  EXPECT_TRUE(cut.input.starts_with(R"({"cut)")) << cut.input.substr(0, 40);
  EXPECT_TRUE(cut.input.ends_with("}"));
  EXPECT_LE(out->tokens, 100'000);
}

TEST(Fork, OneFileInPlaceOfItsContents) {
  Part file{.type = PartType::file, .name = "x.bin", .size = 900'000, .media_type = "application/x-thing"};
  file.url = "data:application/x-thing;base64," + repeated("AbCd9+", 150'000);
  const Result<Prepared> out = prepare({message("m1", Role::user, {text("see"), file})}, {}, {}, {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages.at(0).parts.at(1).type, PartType::text);
  EXPECT_NE(out->messages[0].parts[1].text.find("x.bin"), std::string::npos);
}

TEST(Fork, TakesEverythingUpToAndWithTheNamedMessage) {
  const std::vector<Message> history = {message("m1", Role::user, {text("a")}), message("m2", Role::user, {text("b")}),
                                        message("m3", Role::user, {text("c")})};
  const Result<Prepared> out = prepare(history, MessageId("m2"), {}, {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages, (std::vector{history[0], history[1]}));
  EXPECT_EQ(prepare(history, MessageId("m9"), {}, {}).error().code, Code::not_found);
}

TEST(Fork, TheCallThatLaunchedItIsSettledAndSoIsEveryOther) {
  const Result<Prepared> out =
      prepare({message("m1", Role::assistant,
                       {call("c1"), result("c1", "done"), call("c2", "bash"), call("c3", "background_task")})},
              {}, "c3", {});
  ASSERT_TRUE(out);
  const std::vector<Part>& parts = out->messages.at(0).parts;
  ASSERT_EQ(parts.size(), 6u);
  EXPECT_EQ(parts[1].text, "done");
  EXPECT_EQ(parts[3].call_id, "c2");
  EXPECT_TRUE(parts[3].is_error);
  EXPECT_EQ(parts[5].call_id, "c3");
  EXPECT_FALSE(parts[5].is_error);
  EXPECT_NE(parts[5].text.find("fork"), std::string::npos);
}

TEST(Fork, IdsThatComeAgainInLaterTurnsAreSettledOnce) {
  const Result<Prepared> out = prepare({message("m1", Role::assistant, {call("call_0"), result("call_0", "one")}),
                                        message("m2", Role::assistant, {call("call_0", "bash")})},
                                       {}, "call_0", {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages.at(0).parts.size(), 2u);
  EXPECT_EQ(out->messages.at(1).parts.size(), 2u);
}

TEST(Fork, TheCallsOwnResultIsNotReplaced) {
  const Result<Prepared> out =
      prepare({message("m1", Role::assistant, {call("c1"), result("c1", "task_1 was launched")})}, {}, "c1", {});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages.at(0).parts.at(1).text, "task_1 was launched");
}

TEST(Fork, TieredCutsByAge) {
  std::vector<Message> history;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "c" + std::to_string(i);
    history.push_back(message("m" + std::to_string(i), Role::assistant,
                              {call(id, i == 0   ? "bash"
                                        : i == 1 ? "ask_user_questions"
                                                 : "read"),
                               result(id, repeated("0123456789", 400))}));
  }
  const Result<Prepared> out = prepare(history, {}, {}, {.profile = Profile::tiered});
  ASSERT_TRUE(out);
  const auto kept = [&](size_t i) { return out->messages.at(i).parts.at(1).text; };
  EXPECT_EQ(kept(19).size(), 4'000u);
  EXPECT_EQ(kept(15).size(), 4'000u);
  EXPECT_EQ(kept(14).find("\n["), 3'000u);
  EXPECT_EQ(kept(5).find("\n["), 3'000u);
  EXPECT_EQ(kept(4).find("\n["), 500u);
  EXPECT_EQ(kept(1).size(), 4'000u) << "what a person answered";
  EXPECT_EQ(kept(0).find("\n["), 400u) << "of a shell's output the end is kept too";
  EXPECT_EQ(out->results_cut, 14);
}

TEST(Fork, TieredBeginsWithTheLatestSummary) {
  Part note{.type = PartType::notice, .text = "What happened so far.", .name = "compaction"};
  const std::vector<Message> history = {message("m1", Role::user, {text("a")}), message("m2", Role::system, {note}),
                                        message("m3", Role::user, {text("b")}), message("m4", Role::system, {note}),
                                        message("m5", Role::user, {text("c")})};
  const Result<Prepared> out = prepare(history, {}, {}, {.profile = Profile::tiered});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages, (std::vector{history[3], history[4]}));
  EXPECT_NE(out->preamble.find("summary"), std::string::npos);
  EXPECT_EQ(prepare(history, {}, {}, {})->messages.size(), 5u);
}

TEST(Fork, TieredDropsTheOldestOver200000Characters) {
  std::vector<Message> history;
  for (int i = 0; i < 30; ++i)
    history.push_back(message("m" + std::to_string(i), Role::user, {text(repeated("lots of text ", 800))}));
  const Result<Prepared> out = prepare(history, {}, {}, {.profile = Profile::tiered});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->messages.size(), 19u);
  EXPECT_EQ(out->messages_dropped, 11);
}

TEST(Fork, RefusesLimitsThatMakeNoSense) {
  EXPECT_EQ(prepare({}, {}, {}, {.tool_result_chars = -1}).error().code, Code::invalid_argument);
  EXPECT_EQ(prepare({}, {}, {}, {.tokens = 10}).error().code, Code::invalid_argument);
  EXPECT_TRUE(prepare({}, {}, {}, {}));
}

TEST(Fork, HoldsItsPromisesForAnyConversation) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    test::check_prepare([&](uint64_t bound) { return random.below(bound); });
  }
}

}  // namespace
}  // namespace errand::fork
