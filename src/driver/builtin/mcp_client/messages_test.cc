#include "driver/builtin/mcp_client/messages.h"

#include <gtest/gtest.h>

#include "base/fields.h"
#include "driver/builtin/mcp_client/mcp_tools.h"

namespace errand::builtin::mcp {
namespace {

TEST(McpMessages, WhatIsSentIsOneLineOfJson) {
  for (const std::string& message :
       {initialize_message(1, "1.0"), initialized_message(), list_message(2, ""), list_message(3, "a\"b"),
        call_message(4, "x\ny", R"({"a":[1]})"), call_message(5, "x", ""), cancelled_message(6)}) {
    EXPECT_TRUE(Document::parse(message)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_EQ(call_message(4, "t", R"({"a":1})"),
            R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t","arguments":{"a":1}}})");
}

TEST(McpMessages, WhatComesIsToldApart) {
  using Kind = Received::Kind;
  const auto received = [](std::string_view text) { return *parse_received(text); };
  EXPECT_EQ(received(R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})").kind, Kind::response);
  EXPECT_EQ(received(R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})").body, R"({"a":1})");
  EXPECT_EQ(received(R"({"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no\nway"}})").body, "no way");
  EXPECT_EQ(received(R"({"jsonrpc":"2.0","method":"notifications/message"})").kind, Kind::notification);
  EXPECT_EQ(received(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").answer,
            R"({"jsonrpc":"2.0","id":"a","result":{}})");
  EXPECT_TRUE(received(R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"})").answer.contains("-32601"));
  for (const char* text :
       {"", "hello", "[]", "{}", R"({"id":"x","result":{}})", R"({"id":1})", R"({"id":1,"error":3})"})
    EXPECT_FALSE(parse_received(text)) << text;
}

TEST(McpMessages, AnUnknownVersionIsRefused) {
  EXPECT_EQ(*parse_initialized(R"({"protocolVersion":"2025-06-18"})"), "2025-06-18");
  EXPECT_FALSE(parse_initialized(R"({"protocolVersion":"1999-01-01"})"));
  EXPECT_FALSE(parse_initialized(R"({})"));
}

TEST(McpMessages, ToolsThatCannotBeUsedAreLeftOut) {
  const Result<ToolPage> page = parse_tools(
      R"({"tools":[{"name":"a","description":"x","inputSchema":{"type":"object"}},{"name":"b"},{"inputSchema":{}},3],"nextCursor":"c"})");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->tools.size(), 1u);
  EXPECT_EQ(page->tools[0].input_schema, R"({"type":"object"})");
  EXPECT_EQ(page->left_out, (std::vector<std::string>{"b", ""}));
  EXPECT_EQ(page->next_cursor, "c");
  EXPECT_FALSE(parse_tools(R"({"tools":3})"));
}

TEST(McpMessages, AResultBecomesText) {
  const auto text = [](std::string_view result) { return parse_call(result)->text; };
  EXPECT_EQ(text(R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"), "a\nb");
  EXPECT_EQ(text(R"({"content":[{"type":"image","mimeType":"image/png","data":"xx"}]})"),
            "[image image/png is left out]");
  EXPECT_EQ(text(R"({"content":[{"type":"resource","resource":{"uri":"x","text":"body"}}]})"), "body");
  EXPECT_EQ(text(R"({"content":[],"structuredContent":{"a":1}})"), R"({"a":1})");
  EXPECT_TRUE(parse_call(R"({"content":[],"isError":true})")->is_error);
  EXPECT_FALSE(parse_call("[]"));
}

TEST(McpMessages, ANameIsOneThatModelsTake) {
  EXPECT_EQ(tool_name("github", "create_issue"), "mcp__github__create_issue");
  const std::string odd = tool_name("a", "x.y/z"), other = tool_name("a", "x/y.z");
  EXPECT_NE(odd, other);
  EXPECT_TRUE(odd.starts_with("mcp__a__x_y_z_")) << odd;
  EXPECT_EQ(tool_name("a", std::string(200, 'x')).size(), tool_name_max);
}

}  // namespace
}  // namespace errand::builtin::mcp
