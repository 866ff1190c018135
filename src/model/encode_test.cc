// What goes over the wire: golden files for a conversation with everything in it, and what must hold for any.
#include "model/encode.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/id.h"
#include "model/place.h"

namespace errand::model {
namespace {

namespace json = boost::json;
using Type = Block::Type;
using Role = Entry::Role;

Block said(std::string text) { return {.type = Type::text, .text = std::move(text)}; }
Block call(std::string id, std::string name, std::string input, std::string opaque = {}) {
  return {.type = Type::tool_call,
          .call_id = std::move(id),
          .name = std::move(name),
          .input = std::move(input),
          .opaque = std::move(opaque)};
}
Block result(std::string id, std::string text, bool is_error = false) {
  return {.type = Type::tool_result, .text = std::move(text), .call_id = std::move(id), .is_error = is_error};
}
Block thought(std::string text, std::string opaque) {
  return {.type = Type::reasoning, .text = std::move(text), .opaque = std::move(opaque)};
}

// Two levels deep a line each: a golden file that people can read a difference of.
std::string lines(const json::value& value, int depth = 0) {
  const std::string indent(static_cast<size_t>(depth + 1) * 2, ' ');
  if (depth >= 3 || !value.is_structured()) return json::serialize(value);
  std::string out(1, value.is_object() ? '{' : '[');
  bool first = true;
  const auto next = [&] {
    out += first ? "\n" : ",\n";
    out += indent;
    first = false;
  };
  if (value.is_object()) {
    for (const auto& [key, each] : value.get_object()) {
      next();
      out += json::serialize(json::value(key)) + ": " + lines(each, depth + 1);
    }
  } else {
    for (const json::value& each : value.get_array()) {
      next();
      out += lines(each, depth + 1);
    }
  }
  return out + (value.is_object() ? "}" : "]");
}

void expect_golden(const std::string& name, const http::Request& request) {
  const std::string path = fmt::format("{}/tests/model/requests/{}.txt", ERRAND_SOURCE_DIR, name);
  std::string got = fmt::format("{} {}\n", request.method, request.url);
  for (const auto& [header, value] : request.headers) got += fmt::format("{}: {}\n", header, value);
  got += lines(json::parse(request.body)) + "\n";
  if (std::getenv("ERRAND_GOLDEN_WRITE")) std::ofstream(path, std::ios::binary) << got;
  std::ifstream in(path, std::ios::binary);
  EXPECT_EQ(got, std::string(std::istreambuf_iterator<char>(in), {}));
}

Request everything(Api api) {
  const auto own = [&](std::string_view data) { return make_opaque(api, data); };
  Request request;
  request.model = api == Api::anthropic ? "claude-sonnet-5-5" : "gpt-5.5";
  request.system = "You work.";
  request.effort = "high";
  request.cache_key = "ses_1";
  request.max_output_tokens = 9000;
  request.tools = {
      {"read", "Reads.", R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})"},
      {"list", "Lists.", "{}"}};
  const char* signature = api == Api::anthropic ? R"({"signature":"c2ln"})"
                          : api == Api::openai_chat
                              ? R"({"field":"reasoning_content"})"
                              : R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"})";
  request.conversation = {
      {Role::user, {said("Look at \"a\"."), {.type = Type::image, .media_type = "image/png", .data = "iVBORw0="}}},
      {Role::assistant, {said("First answer.")}},
      {Role::user, {said("And now?")}},
      {Role::assistant,
       {thought("Both.", own(signature)), said("I read both."), call("c1", "read", R"({"path":"a"})"),
        call("c2", "list", "")}},
      {Role::user, {result("c1", "text of a"), result("c2", "no such folder", true), said("Steered: be quick.")}},
  };
  return request;
}

TEST(Encode, AnthropicGolden) {
  expect_golden("anthropic",
                encode({Api::anthropic, "https://api.anthropic.com/", "sk-ant-1", {}}, everything(Api::anthropic)));
}

TEST(Encode, ChatGolden) {
  expect_golden("chat", encode({Api::openai_chat, "http://127.0.0.1:11434/v1", "", {}}, everything(Api::openai_chat)));
}

TEST(Encode, ChatAtOpenAiGolden) {
  expect_golden("chat_openai",
                encode({Api::openai_chat, "https://api.openai.com/v1", "sk-1", {}}, everything(Api::openai_chat)));
}

TEST(Encode, ResponsesGolden) {
  expect_golden("responses", encode({Api::openai_responses, "https://api.openai.com/v1", "sk-1", {}},
                                    everything(Api::openai_responses)));
}

TEST(Encode, WhatAnotherApiSignedStaysOut) {
  for (const Api from : {Api::anthropic, Api::openai_chat, Api::openai_responses}) {
    for (const Api to : {Api::anthropic, Api::openai_chat, Api::openai_responses}) {
      if (from == to) continue;
      const std::string body = encode({to, "http://x/v1", "", {}}, everything(from)).body;
      EXPECT_FALSE(body.contains("c2ln") || body.contains("rs_1") || body.contains("reasoning_content"))
          << name(from) << " to " << name(to) << body;
      EXPECT_TRUE(body.contains("I read both."));
    }
  }
}

TEST(Encode, TheEndpointsHeadersGoOverOurs) {
  const http::Request request =
      encode({Api::anthropic, "http://x", "k", {{"Anthropic-Version", "2023-06-01"}, {"x-team", "a"}}},
             everything(Api::anthropic));
  int versions = 0;
  for (const auto& [name, value] : request.headers)
    versions += name == "Anthropic-Version" || name == "anthropic-version";
  EXPECT_EQ(versions, 1);
  EXPECT_EQ(std::ranges::count(request.headers, std::pair<std::string, std::string>("x-team", "a")), 1);
}

TEST(Encode, AddressesAreFound) {
  const std::tuple<Api, std::string, std::string> cases[] = {
      {Api::anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"},
      {Api::anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"},
      {Api::anthropic, "https://gateway/anthropic", "https://gateway/anthropic/v1/messages"},
      {Api::openai_chat, "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"},
      {Api::openai_chat, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"},
      {Api::openai_chat, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"},
      {Api::openai_chat, "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"},
      {Api::openai_responses, "https://api.openai.com/v1", "https://api.openai.com/v1/responses"},
  };
  for (const auto& [api, base, url] : cases) EXPECT_EQ(encode({api, base, "", {}}, everything(api)).url, url);
}

TEST(Encode, OnlyModelsThatReasonAreAskedTo) {
  Request request = everything(Api::openai_responses);
  request.effort.clear();
  const Endpoint endpoint{Api::openai_responses, "https://api.openai.com/v1", "", {}};
  for (const auto& [model, expected] : std::map<std::string, bool>{{"gpt-4.1", false},
                                                                   {"gpt-4o", false},
                                                                   {"o3", true},
                                                                   {"o4-mini", true},
                                                                   {"gpt-5", true},
                                                                   {"gpt-5.5", true},
                                                                   {"gpt-6-sol", true},
                                                                   {"gpt-5-chat-latest", false},
                                                                   {"codex-mini-latest", true}}) {
    request.model = model;
    EXPECT_EQ(encode(endpoint, request).body.contains("reasoning.encrypted_content"), expected) << model;
  }
}

TEST(Encode, OlderClaudesGetABudgetAndNewerOnesAnEffort) {
  Request request = everything(Api::anthropic);
  const Endpoint endpoint{Api::anthropic, "http://x", "", {}};
  for (const char* model :
       {"claude-sonnet-4-5", "claude-opus-4-5-20251101", "claude-3-7-sonnet-latest", "claude-sonnet-4-20250514"}) {
    request.model = model;
    const json::value body = json::parse(encode(endpoint, request).body);
    EXPECT_EQ(body.at("thinking").at("budget_tokens").as_int64(), 4500) << model << ": half of the tokens it may give";
    EXPECT_FALSE(body.as_object().contains("output_config"));
  }
  for (const char* model : {"claude-opus-4-6", "claude-sonnet-5-5", "claude-fable-5"}) {
    request.model = model;
    const json::value body = json::parse(encode(endpoint, request).body);
    EXPECT_EQ(body.at("thinking").at("type").as_string(), "adaptive") << model;
    EXPECT_EQ(body.at("output_config").at("effort").as_string(), "high");
  }
  request.effort.clear();
  EXPECT_FALSE(encode(endpoint, request).body.contains("thinking\":{"));
}

TEST(Encode, CachesUpToTheLastTwoMessagesOfTheUser) {
  Request request = everything(Api::anthropic);
  for (int i = 0; i < 10; ++i) {
    request.conversation.push_back({Role::assistant, {said("a")}});
    request.conversation.push_back({Role::user, {said(fmt::format("u{}", i))}});
  }
  const json::value body = json::parse(encode({Api::anthropic, "http://x", "", {}}, request).body);
  std::vector<std::string> marked;
  for (const json::value& message : body.at("messages").as_array())
    for (const json::value& block : message.at("content").as_array())
      if (block.as_object().contains("cache_control")) marked.emplace_back(block.at("text").as_string());
  EXPECT_EQ(marked, (std::vector<std::string>{"u8", "u9"}));
  EXPECT_TRUE(body.at("tools").as_array().back().as_object().contains("cache_control"));
  EXPECT_FALSE(body.at("tools").as_array().front().as_object().contains("cache_control"));
  EXPECT_TRUE(body.at("system").as_array().back().as_object().contains("cache_control"));
}

TEST(Encode, TheCachedPrefixOfARequestIsThatOfTheNext) {
  Request request = everything(Api::anthropic);
  const Endpoint endpoint{Api::anthropic, "http://x", "", {}};
  const auto plain = [](std::string body) {
    const std::string mark = R"(,"cache_control":{"type":"ephemeral"})";
    for (size_t at; (at = body.find(mark)) != std::string::npos;) body.erase(at, mark.size());
    return body.substr(0, body.size() - 2);  // Without the ends of the list and of the body.
  };
  const std::string before = plain(encode(endpoint, request).body);
  request.conversation.push_back({Role::assistant, {said("more")}});
  request.conversation.push_back({Role::user, {said("and more")}});
  EXPECT_TRUE(plain(encode(endpoint, request).body).starts_with(before));
}

TEST(Encode, WrongInputsAndSchemasStillMakeJson) {
  Request request = everything(Api::anthropic);
  request.tools = {
      {"t", "\xff", "not json"}, {"u", "", "[1]"}, {"v", "", R"({"type":"object","properties":{"a":{}}})"}};
  request.conversation[3].blocks[2].input = R"({"path": "half)";
  request.conversation[3].blocks[3].input = "[1,2]";
  for (const Api api : {Api::anthropic, Api::openai_chat, Api::openai_responses}) {
    boost::system::error_code error;
    const std::string body = encode({api, "http://x/v1", "", {}}, request).body;
    json::parse(body, error);
    EXPECT_FALSE(error) << body;
    EXPECT_TRUE(body.contains("invalid_json")) << body;
  }
  EXPECT_EQ(valid_schema("not json"), R"({"type":"object","properties":{}})");
  EXPECT_EQ(valid_input(""), "{}");
}

// ---- normalize

TEST(Normalize, AnswersEveryCallOnceRightBehindIt) {
  const std::vector<Entry> out = normalize({
      {Role::user, {said("go")}},
      {Role::assistant, {call("a", "x", "{}"), call("b", "y", "{}")}},
      {Role::user, {said("meanwhile"), result("b", "done")}},
      {Role::assistant, {call("c", "z", "{}")}},
  });
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[2].blocks[0].call_id, "a");
  EXPECT_TRUE(out[2].blocks[0].is_error);
  EXPECT_TRUE(out[2].blocks[0].text.starts_with("Interrupted"));
  EXPECT_EQ(out[2].blocks[1], result("b", "done"));
  EXPECT_EQ(out[2].blocks[2], said("meanwhile"));
  EXPECT_EQ(out[4].blocks[0].call_id, "c");
}

TEST(Normalize, AResultWithoutItsCallIsText) {
  const std::vector<Entry> out = normalize({{Role::user, {result("gone", "42")}}});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].blocks[0].type, Type::text);
  EXPECT_TRUE(out[0].blocks[0].text.contains("42"));
}

TEST(Normalize, JoinsNeighboursAndDropsWhatIsEmpty) {
  const std::vector<Entry> out = normalize({{Role::assistant, {said("hello")}},
                                            {Role::user, {said("a")}},
                                            {Role::user, {said(" \n"), said("b")}},
                                            {Role::assistant, {said("")}},
                                            {Role::user, {said("c")}}});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].role, Role::user) << "the first word is the user's";
  EXPECT_EQ(out[2].blocks, (std::vector<Block>{said("a"), said("b"), said("c")}));
}

TEST(Normalize, MakesIdsThatAllTake) {
  const std::vector<Entry> out = normalize(
      {{Role::user, {said("x")}},
       {Role::assistant, {call("a b|ü", "x", "{}"), call(std::string(200, 'z'), "y", "{}"), call("", "w", "{}")}},
       {Role::user, {result("a b|ü", "1"), result(std::string(200, 'z'), "2")}}});
  EXPECT_EQ(out[1].blocks[0].call_id, "a_b___");
  EXPECT_EQ(out[1].blocks[1].call_id.size(), 64u);
  EXPECT_EQ(out[2].blocks[0].call_id, out[1].blocks[0].call_id);
  EXPECT_EQ(out[2].blocks[1].text, "2");
}

TEST(Normalize, TellsCallsOfTheSameIdApart) {
  const std::vector<Entry> out =
      normalize({{Role::user, {said("x")}},
                 {Role::assistant, {call("a", "x", "{}"), call("a", "y", "{}"), call("a", "z", "{}")}},
                 {Role::user, {result("a", "1"), result("a", "2"), result("a", "3")}}});
  std::set<std::string> ids;
  for (size_t i = 0; i < 3; ++i) {
    ids.insert(out[1].blocks[i].call_id);
    EXPECT_EQ(out[2].blocks[i].call_id, out[1].blocks[i].call_id);
    EXPECT_EQ(out[2].blocks[i].text, std::to_string(i + 1));
  }
  EXPECT_EQ(ids.size(), 3u);
}

// Whatever was stored, what goes out keeps the providers' rules.
TEST(Normalize, HoldsForAnyConversation) {
  const uint64_t seed = std::getenv("ERRAND_TEST_LONG") ? SystemRandom().next() : 1;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Entry> conversation;
    for (uint64_t i = random.below(8); i > 0; --i) {
      Entry entry{random.one_in(2) ? Role::user : Role::assistant, {}};
      for (uint64_t k = random.below(5); k > 0; --k) {
        const std::string id(1, static_cast<char>('a' + random.below(3)));
        const Block blocks[] = {said(random.one_in(3) ? " " : "t"),
                                call(id, "n", "{}"),
                                result(id, "r"),
                                thought("th", ""),
                                {.type = Type::image, .media_type = "image/png", .data = "AA=="}};
        entry.blocks.push_back(blocks[random.below(5)]);
      }
      conversation.push_back(std::move(entry));
    }
    const std::vector<Entry> out = normalize(conversation);
    std::vector<std::string> open;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i].role, i % 2 ? Role::assistant : Role::user);
      ASSERT_FALSE(out[i].blocks.empty());
      std::vector<std::string> results, calls;
      for (const Block& block : out[i].blocks) {
        if (block.type == Type::tool_result) results.push_back(block.call_id);
        if (block.type == Type::tool_call) calls.push_back(block.call_id);
        if (block.type == Type::text) ASSERT_NE(block.text, " ");
      }
      if (i % 2 == 0) ASSERT_EQ(results, open);
      if (i % 2) {
        ASSERT_TRUE(results.empty());
        open = calls;
        ASSERT_EQ(std::set(calls.begin(), calls.end()).size(), calls.size());
      }
    }
    if (out.size() % 2 == 0) ASSERT_TRUE(open.empty());
    ASSERT_EQ(normalize(out), out) << "once is enough";
  }
}

}  // namespace
}  // namespace errand::model
