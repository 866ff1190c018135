#include "driver/acp/wire.h"

#include <gtest/gtest.h>

namespace errand::acp {
namespace {

using Kind = Incoming::Kind;

TEST(AcpWire, WhatIsNoMessageIsNone) {
  for (const char* line : {"", "hello", "[]", "7", "{", R"({"jsonrpc":"2.0"})", R"({"id":1})", "{\"method\":\"\xff\"}"})
    EXPECT_EQ(parse_incoming(line).kind, Kind::none) << line;
  EXPECT_EQ(parse_incoming(std::string(100'000, '[')).kind, Kind::none);
}

TEST(AcpWire, IdsOfTheAgentComeBackAsTheyCame) {
  for (const char* id : {"0", "\"a-b\"", "-7", "18446744073709551615"}) {
    const Incoming in =
        parse_incoming(std::string(R"({"id":)") + id + R"(,"method":"session/request_permission","params":{}})");
    EXPECT_EQ(in.kind, Kind::permission);
    EXPECT_EQ(permission_line(in.id, "once"), std::string(R"({"jsonrpc":"2.0","id":)") + id +
                                                  R"(,"result":{"outcome":{"outcome":"selected","optionId":"once"}}})");
  }
  EXPECT_EQ(permission_line("1", ""), R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}})");
}

TEST(AcpWire, AnAnswerToNobodysRequestHasNoNumber) {
  EXPECT_EQ(parse_incoming(R"({"id":"3","result":{}})").number, -1);
  EXPECT_EQ(parse_incoming(R"({"id":null,"error":{"code":-32700,"message":"what"}})").number, -1);
  const Incoming in = parse_incoming(R"({"id":3,"result":null})");
  EXPECT_EQ(in.kind, Kind::result);
  EXPECT_EQ(in.number, 3);
}

TEST(AcpWire, AnErrorSaysWhyWhereverItSaysIt) {
  const auto message = [](const std::string& error) {
    return parse_incoming(R"({"id":1,"error":)" + error + "}").error.message;
  };
  EXPECT_EQ(message(R"({"code":-32603,"message":"Internal error","data":{"details":"no key"}})"), "no key");
  EXPECT_EQ(message(R"({"code":400,"message":"{\"error\":{\"message\":\"injected\"}}"})"), "injected");
  EXPECT_EQ(message(R"({"code":-32000,"message":"Authentication required"})"), "Authentication required");
  EXPECT_FALSE(message("7").empty());
}

TEST(AcpWire, UnknownUpdatesAndFieldsAreLetPass) {
  const Incoming in = parse_incoming(
      R"({"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","x":[1]}}})");
  EXPECT_EQ(in.kind, Kind::update);
  EXPECT_EQ(in.session, "s");
  EXPECT_EQ(in.update.type, Update::Type::other);
  EXPECT_EQ(parse_incoming(R"({"method":"_auth/status_update","params":{}})").kind, Kind::notification);
}

TEST(AcpWire, CodexSaysInItsOwnWayThatATurnFails) {
  const auto update = [](const std::string& type) {
    return parse_incoming(R"({"method":"session/update","params":{"update":{"sessionUpdate":"session_info_update",)"
                          R"("_meta":{"codex":{"threadStatus":{"type":")" +
                          type + R"("}}}}}})")
        .update;
  };
  EXPECT_TRUE(update("systemError").failing);
  EXPECT_FALSE(update("active").failing);
  EXPECT_EQ(update("active").type, Update::Type::health);
  EXPECT_EQ(update("").type, Update::Type::other);
}

TEST(AcpWire, ModelsAreChosenAsTheAgentOffersThem) {
  const SessionInfo now = parse_session(
      R"({"sessionId":"s","configOptions":[{"id":"m","category":"model","currentValue":"a",
          "options":[{"value":"a"},{"name":"more","options":[{"value":"b"}]}]}]})");
  EXPECT_EQ(now.model.values, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(
      choose_line(4, "s", now.model, "b"),
      R"({"jsonrpc":"2.0","id":4,"method":"session/set_config_option","params":{"sessionId":"s","configId":"m","value":"b"}})");
  const SessionInfo old =
      parse_session(R"({"models":{"currentModelId":"x","availableModels":[{"modelId":"x"},{"modelId":"y"}]}})");
  EXPECT_EQ(choose_line(4, "s", old.model, "y"),
            R"({"jsonrpc":"2.0","id":4,"method":"session/set_model","params":{"sessionId":"s","modelId":"y"}})");
  EXPECT_FALSE(parse_session("{}").model.offered());
}

TEST(AcpWire, ASessionIsOpenedWithItsFoldersAndServers) {
  EXPECT_EQ(open_line(1, "session/new",
                      {.session = {},
                       .work_dir = "/p",
                       .add_dirs = {"/q"},
                       .servers = {{.name = "errand", .command = {"/bin/errand", "mcp"}, .env = {{"A", "b"}}},
                                   {.name = "web", .url = "http://127.0.0.1/mcp", .headers = {{"X", "y"}}}}}),
            R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/p","mcpServers":[)"
            R"({"name":"errand","command":"/bin/errand","args":["mcp"],"env":[{"name":"A","value":"b"}]},)"
            R"({"type":"http","name":"web","url":"http://127.0.0.1/mcp","headers":[{"name":"X","value":"y"}]}],)"
            R"("additionalDirectories":["/q"]}})");
}

TEST(AcpWire, NumbersThatAreNoneAreHeldWithinBounds) {
  const Stopped stopped = parse_stopped(R"({"stopReason":"end_turn","usage":{"inputTokens":1e300,"outputTokens":-5}})");
  EXPECT_EQ(stopped.usage.input_tokens, 0);
  EXPECT_EQ(stopped.usage.output_tokens, 0);
  EXPECT_FALSE(parse_incoming(R"({"method":"session/update","params":{"update":{"sessionUpdate":"usage_update",
      "cost":{"amount":-1,"currency":"USD"}}}})")
                   .update.cost_usd);
}

}  // namespace
}  // namespace errand::acp
