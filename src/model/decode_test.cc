// Golden streams: what each provider sends, and what we make of it; cut at every byte.
#include "model/decode.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace errand::model {
namespace {

namespace fs = std::filesystem;

const fs::path folder = ERRAND_SOURCE_DIR "/tests/model/streams";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Api api_of(std::string_view name) {
  if (name.starts_with("anthropic")) return Api::anthropic;
  return name.starts_with("chat") ? Api::openai_chat : Api::openai_responses;
}

std::vector<std::string> streams() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".sse") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

std::string render(const Block& block) {
  static constexpr std::string_view types[] = {"text", "reasoning", "tool_call", "tool_result", "image"};
  std::string out(types[static_cast<size_t>(block.type)]);
  if (!block.call_id.empty() || !block.name.empty()) out += fmt::format(" {} {}", block.call_id, block.name);
  if (!block.text.empty()) out += fmt::format(" \"{}\"", block.text);
  if (!block.input.empty()) out += fmt::format(" {}{}", block.input, block.input_broken ? " (broken)" : "");
  if (!block.opaque.empty()) out += fmt::format(" <{}>", block.opaque);
  return out + "\n";
}

std::string render(const Answer& answer) {
  std::string out;
  for (const Block& block : answer.blocks) out += render(block);
  const TokenUse& use = answer.use;
  out += fmt::format("stop {}, model {}, cost {}\n", name(answer.stop), answer.model, answer.cost_usd);
  if (!answer.use_known) return out + "use unknown\n";
  return out + fmt::format("use in {} out {} read {} write {} reasoning {}\n", use.input, use.output, use.cache_read,
                           use.cache_write, use.reasoning);
}

// What a listener has put together when all deltas came.
struct Heard {
  std::vector<Block> blocks;
  void take(const std::vector<Delta>& deltas) {
    for (const Delta& delta : deltas) {
      if (delta.kind == Delta::Kind::began) {
        ASSERT_EQ(delta.index, blocks.size()) << "blocks begin in order";
        blocks.push_back(delta.block);
        continue;
      }
      ASSERT_LT(delta.index, blocks.size());
      (delta.kind == Delta::Kind::text ? blocks[delta.index].text : blocks[delta.index].input) += delta.text;
    }
  }
};

struct Outcome {
  std::string text;
  bool whole = false;
};

// `pieces`: the stream as it comes.
Outcome decode(Api api, const std::vector<std::string_view>& pieces) {
  const auto decoder = Decoder::make(api, "made_");
  Heard heard;
  for (const std::string_view piece : pieces) {
    std::vector<Delta> deltas;
    decoder->feed(piece, deltas);
    heard.take(deltas);
  }
  const auto error = decoder->error();
  const std::optional<Answer> answer = decoder->finish();
  Outcome out;
  if (answer) {
    out.whole = true;
    out.text = render(*answer);
    EXPECT_EQ(heard.blocks.size(), answer->blocks.size());
    for (size_t i = 0; i < std::min(heard.blocks.size(), answer->blocks.size()); ++i) {
      EXPECT_EQ(heard.blocks[i].type, answer->blocks[i].type);
      EXPECT_EQ(heard.blocks[i].text, answer->blocks[i].text);
      if (!heard.blocks[i].input.empty()) EXPECT_EQ(heard.blocks[i].input, answer->blocks[i].input);
    }
    return out;
  }
  for (const Block& block : heard.blocks) out.text += render(block);
  if (error)
    out.text += error->malformed
                    ? fmt::format("malformed\n")
                    : fmt::format("error type \"{}\" code \"{}\": {}\n", error->type, error->code, error->message);
  else
    out.text += "cut\n";
  return out;
}

class GoldenStream : public testing::TestWithParam<std::string> {
 protected:
  const Api api = api_of(GetParam());
  const std::string bytes = read(folder / (GetParam() + ".sse"));
};

TEST_P(GoldenStream, IsWhatItsFileSays) {
  const std::string got = decode(api, {bytes}).text;
  const fs::path golden = folder / (GetParam() + ".txt");
  // ERRAND_GOLDEN_WRITE=1 writes them anew: then read the difference.
  if (std::getenv("ERRAND_GOLDEN_WRITE")) std::ofstream(golden, std::ios::binary) << got;
  EXPECT_EQ(got, read(golden));
}

TEST_P(GoldenStream, IsTheSameWhereverItIsCutInTwo) {
  const std::string whole = decode(api, {bytes}).text;
  const std::string_view all = bytes;
  for (size_t i = 0; i <= all.size(); ++i)
    ASSERT_EQ(decode(api, {all.substr(0, i), all.substr(i)}).text, whole) << "at " << i;
}

TEST_P(GoldenStream, IsTheSameByteByByte) {
  std::vector<std::string_view> pieces;
  for (size_t i = 0; i < bytes.size(); ++i) pieces.push_back(std::string_view(bytes).substr(i, 1));
  EXPECT_EQ(decode(api, pieces).text, decode(api, {bytes}).text);
}

// An answer is never taken for whole where something of it is missing.
TEST_P(GoldenStream, ThatEndsEarlyIsCutOrSaysAllItSaid) {
  const Outcome whole = decode(api, {bytes});
  const auto blocks = [](const std::string& text) { return text.substr(0, text.find("stop ")); };
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Outcome early = decode(api, {std::string_view(bytes).substr(0, i)});
    if (!early.whole) continue;
    ASSERT_TRUE(whole.whole) << "at " << i;
    // What only comes with the last chunk (details of reasoning, usage) may be missing; what was said may not.
    ASSERT_EQ(blocks(early.text), blocks(whole.text)) << "at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Streams, GoldenStream, testing::ValuesIn(streams()),
                         [](const auto& each) { return each.param; });

TEST(Decoder, TakesADocumentInsteadOfAStream) {
  const std::tuple<Api, std::string, std::string> documents[] = {
      {Api::anthropic,
       R"({"type":"message","model":"m","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})",
       "text \"Hi\"\ntool_call t n {\"a\":1}\nstop tool_calls, model m, cost 0\nuse in 3 out 4 read 0 write 0 "
       "reasoning 0\n"},
      {Api::openai_chat,
       R"({"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]})",
       "text \"Hi\"\nstop end, model m, cost 0\nuse unknown\n"},
      {Api::openai_responses,
       R"({"object":"response","status":"completed","model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]})",
       "text \"Hi\"\nstop end, model m, cost 0\nuse unknown\n"},
  };
  for (const auto& [api, body, expected] : documents) {
    const auto decoder = Decoder::make(api, "made_");
    std::vector<Delta> deltas;
    decoder->document(body, deltas);
    const auto answer = decoder->finish();
    ASSERT_TRUE(answer) << body;
    EXPECT_EQ(render(*answer), expected);
  }
}

TEST(Decoder, AnErrorInsteadOfAStreamIsOne) {
  for (const Api api : {Api::anthropic, Api::openai_chat, Api::openai_responses}) {
    const auto decoder = Decoder::make(api, "made_");
    std::vector<Delta> deltas;
    decoder->document(R"({"type":"error","error":{"type":"overloaded_error","message":"Busy"}})", deltas);
    ASSERT_TRUE(decoder->error()) << name(api);
    EXPECT_EQ(decoder->error()->message, "Busy");
    EXPECT_FALSE(decoder->finish());
  }
}

TEST(Decoder, WhatIsNoUtf8IsMended) {
  const auto decoder = Decoder::make(Api::openai_chat, "made_");
  std::vector<Delta> deltas;
  decoder->feed(
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\xff z\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
      deltas);
  EXPECT_EQ(decoder->finish()->blocks.at(0).text, "a\xEF\xBF\xBD z");
}

TEST(Decoder, HasBounds) {
  const auto decoder = Decoder::make(Api::anthropic, "made_");
  std::vector<Delta> deltas;
  for (int i = 0; i < 2000 && !decoder->error(); ++i)
    decoder->feed(
        fmt::format(
            "data: {{\"type\":\"content_block_start\",\"index\":{},\"content_block\":{{\"type\":\"text\"}}}}\n\n", i),
        deltas);
  ASSERT_TRUE(decoder->error());
  EXPECT_TRUE(decoder->error()->malformed);

  const auto deep = Decoder::make(Api::openai_chat, "made_");
  deep->feed("data: " + std::string(100'000, '[') + "\n\n", deltas);
  EXPECT_TRUE(deep->error());
}

TEST(DecodeError, ReadsTheFormsThatThereAre) {
  const std::tuple<std::string, std::string, std::string, std::string> forms[] = {
      {R"({"type":"error","error":{"type":"rate_limit_error","message":"Slow","details":{"error_code":"enforced_spend_limit_reached"}}})",
       "rate_limit_error", "enforced_spend_limit_reached", "Slow"},
      {R"({"error":{"message":"No","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})",
       "insufficient_quota", "insufficient_quota", "No"},
      {R"({"error":"model 'x' not found"})", "", "", "model 'x' not found"},
      {R"({"object":"error","message":"too long","type":"BadRequestError","code":400})", "BadRequestError", "400",
       "too long"},
      {R"({"detail":"Not Found"})", "", "", "Not Found"},
      {"upstream connect error\nmore", "", "", "upstream connect error"},
      {"<html><body>502</body></html>", "", "", ""},
      {"", "", "", ""},
      {"[1,2]", "", "", ""},
  };
  for (const auto& [body, type, code, message] : forms) {
    const ProviderError error = decode_error(body);
    EXPECT_EQ(error.type, type) << body;
    EXPECT_EQ(error.code, code) << body;
    EXPECT_EQ(error.message, message) << body;
  }
}

}  // namespace
}  // namespace errand::model
