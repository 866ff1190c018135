#include "driver/builtin/answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace errand::builtin {
namespace {

using model::Block;

std::string shown(const std::vector<Report>& reports) {
  std::string out;
  for (const Report& any : reports) {
    if (const auto* began = std::get_if<report::MessageBegan>(&any)) out += fmt::format("begin {}\n", began->id.value);
    if (const auto* text = std::get_if<report::Text>(&any))
      out += fmt::format("{} {} {}\n", text->part, text->reasoning ? "reasoning" : "text", text->text);
    if (const auto* tool = std::get_if<report::ToolStarted>(&any))
      out += fmt::format("{} call {} {} {}\n", tool->part, tool->call_id, tool->name, tool->input);
    if (const auto* opaque = std::get_if<report::Opaque>(&any))
      out += fmt::format("{} opaque [{}]\n", opaque->part, opaque->data);
    if (std::holds_alternative<report::MessageEnded>(any)) out += "end\n";
  }
  return out;
}

Block text(std::string words) { return {.type = Block::Type::text, .text = std::move(words)}; }
Block reasoning(std::string words, std::string opaque) {
  return {.type = Block::Type::reasoning, .text = std::move(words), .opaque = std::move(opaque)};
}
Block call(std::string id, std::string input = "{}") {
  return {.type = Block::Type::tool_call, .call_id = std::move(id), .name = "bash", .input = std::move(input)};
}

// As Models tells it: every block in pieces of three bytes.
std::string streamed(AnswerWriter& writer, const std::vector<Block>& blocks) {
  std::string out;
  for (size_t i = 0; i < blocks.size(); ++i) {
    out += shown(writer.began(i, {.type = blocks[i].type}));
    for (size_t at = 0; at < blocks[i].text.size(); at += 3)
      out += shown(writer.text(i, std::string_view(blocks[i].text).substr(at, 3)));
  }
  return out;
}

AnswerWriter::Whole finish(AnswerWriter& writer, std::vector<Block> blocks, std::set<std::string> used = {}) {
  return writer.finish({.blocks = std::move(blocks)}, used);
}

TEST(AnswerWriter, TextIsReportedAsItComesAndTheEndOnce) {
  AnswerWriter writer(MessageId("msg_1"));
  const std::vector<Block> blocks = {reasoning("think", "sig"), text("Hello")};
  EXPECT_EQ(streamed(writer, blocks), "begin msg_1\n0 reasoning thi\n0 reasoning nk\n1 text Hel\n1 text lo\n");
  const AnswerWriter::Whole whole = finish(writer, blocks);
  EXPECT_EQ(shown(whole.reports), "0 opaque [sig]\nend\n");
  EXPECT_FALSE(whole.calls);
  ASSERT_EQ(whole.message.parts.size(), 2u);
  EXPECT_EQ(whole.message.parts[0].opaque, "sig");
  EXPECT_EQ(whole.message.parts[1].text, "Hello");
  EXPECT_EQ(whole.message.id.value, "msg_1");
}

TEST(AnswerWriter, CallsComeWithTheWholeAnswerAndKeepTheMessageOpen) {
  AnswerWriter writer(MessageId("msg_1"));
  const std::vector<Block> blocks = {text("I run"), call("c1", R"({"a":1})"), text("and"), call("c2")};
  EXPECT_EQ(streamed(writer, blocks), "begin msg_1\n0 text I r\n0 text un\n");
  const AnswerWriter::Whole whole = finish(writer, blocks);
  EXPECT_EQ(shown(whole.reports), "1 call c1 bash {\"a\":1}\n2 text and\n3 call c2 bash {}\n");
  EXPECT_TRUE(whole.calls);
  EXPECT_EQ(whole.message.parts.size(), 4u);
}

TEST(AnswerWriter, ReasoningThatShowsNothingKeepsItsPlace) {
  AnswerWriter writer(MessageId("msg_1"));
  const std::vector<Block> blocks = {reasoning("", "secret"), text("Hi"), reasoning("", "more")};
  EXPECT_EQ(streamed(writer, blocks), "begin msg_1\n0 opaque []\n1 text Hi\n");
  EXPECT_EQ(shown(finish(writer, blocks).reports), "0 opaque [secret]\n2 opaque [more]\nend\n");
}

TEST(AnswerWriter, AnAnswerThatWasNotStreamedIsReportedWhole) {
  AnswerWriter writer(MessageId("msg_1"));
  EXPECT_EQ(shown(finish(writer, {text(""), text("Hi")}).reports), "begin msg_1\n0 text Hi\nend\n");
  AnswerWriter empty(MessageId("msg_2"));
  EXPECT_EQ(shown(finish(empty, {}).reports), "begin msg_2\nend\n");
}

TEST(AnswerWriter, EveryCallHasAnIdOfItsOwn) {
  AnswerWriter writer(MessageId("msg_1"));
  const AnswerWriter::Whole whole = finish(writer, {call("call_0"), call("call_0"), call("")}, {"call_0"});
  std::set<std::string> ids = {"call_0"};
  for (const Part& part : whole.message.parts) EXPECT_TRUE(ids.insert(part.call_id).second) << part.call_id;
  EXPECT_EQ(ids.size(), 4u);
}

TEST(AnswerWriter, BrokenArgumentsAreStoredAsJson) {
  AnswerWriter writer(MessageId("msg_1"));
  Block broken = call("c1", R"({"path":"a)");
  broken.input_broken = true;
  const AnswerWriter::Whole whole = finish(writer, {broken});
  EXPECT_EQ(whole.message.parts[0].input, R"({"not_json":"{\"path\":\"a"})");
  EXPECT_TRUE(is_broken_input(whole.message.parts[0].input));
  EXPECT_FALSE(is_broken_input(R"({"path":"a"})"));
}

}  // namespace
}  // namespace errand::builtin
