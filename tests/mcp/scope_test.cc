// What the scopes of a token mean over MCP. The routes and the tools have tests of their own (tests/api/scope_test.cc).
#include <gtest/gtest.h>

#include "tests/mcp/client.h"

namespace errand::mcp {
namespace {

net::Principal holder(const std::string& id, std::initializer_list<net::Scope> scopes) {
  net::Principal who;
  who.id = id;
  for (const net::Scope scope : scopes) who.scopes.add(scope);
  return who;
}

TEST(McpScopes, WhoOnlyReadsIsToldNothingThatAnotherIsOwed) {
  net::Site site;
  Client owner(site), reader(site);
  owner.open();
  const json::object begun = owner.call("background_task", R"({"agent":"demo","prompt":"text"})");
  site.world.advance(60'000);
  reader.who = holder("tok_r", {net::Scope::read});
  reader.open();
  const Headers as_owner = {{"errand-session-id", owner.session}};
  const json::object list = reader.call("background_list", "{}", as_owner);
  EXPECT_EQ(list.at("content").as_array().size(), 1U);
  const std::string id(begun.at("structuredContent").at("task_id").as_string());
  reader.call("background_output", R"({"task_id":")" + id + R"(","block":true})", as_owner);
  EXPECT_EQ(owner.call("background_list", "{}").at("content").as_array().size(), 2U) << "the notice is still owed";
}

TEST(McpScopes, WhatAToolDoesNeedsItsScope) {
  net::Site site;
  Client reader(site);
  reader.who = holder("tok_r", {net::Scope::read});
  reader.open();
  for (const char* const call : {R"(background_task {"agent":"demo","prompt":"noop"})",
                                 R"(background_execute {"command":"true"})", R"(background_cancel {"all":true})"}) {
    const std::string text = call;
    const json::object said = reader.call(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1));
    EXPECT_EQ(said.at("isError"), true) << call;
    EXPECT_NE(Client::text(said).find("scope"), std::string::npos) << Client::text(said);
  }
}

TEST(McpScopes, ASessionIsItsCallersOwn) {
  net::Site site;
  Client owner(site), one(site), other(site);
  owner.open();
  one.who = holder("tok_1", {net::Scope::tasks});
  other.who = holder("tok_12", {net::Scope::tasks});
  one.open();
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  EXPECT_EQ(one.post(ping).status, 200);
  for (const std::string& taken : {owner.session, one.session}) {
    other.session = taken;
    EXPECT_EQ(other.post(ping).status, 404);
    EXPECT_EQ(other.begin(net::Method::del, "")->answer->status, 404);
    EXPECT_EQ(other.begin(net::Method::get, "")->answer->status, 404);
  }
  EXPECT_EQ(one.post(ping).status, 200) << "nobody else has ended it";
}

TEST(McpScopes, TheSameProgramWithAnotherTokenIsAnotherCaller) {
  net::Site site;
  ModernClient owner(site), other(site);
  other.who = holder("tok_t", {net::Scope::tasks});
  owner.tool("background_task", R"({"agent":"demo","prompt":"text"})");
  site.world.advance(60'000);
  EXPECT_NE(Client::text(other.tool("background_list", "{}")).find("No background tasks found"), std::string::npos);
  EXPECT_TRUE(owner.tool("background_list", "{}").at("structuredContent").as_object().contains("notices"));
}

TEST(McpScopes, OnlyApproveIsAskedForPermissionsAndGivesThem) {
  net::Site site;
  ModernClient client(site);
  client.capabilities = R"({"elicitation":{"form":{}}})";
  // All of them for one session, which each names.
  const auto call = [](const std::string& name, const std::string& arguments, const std::string& more = "") {
    return R"({"_meta":{"errand/session":"shared"},"name":")" + name + R"(","arguments":)" + arguments + more + "}";
  };
  client.who = holder("tok_t", {net::Scope::tasks});
  const json::object begun =
      client.result("tools/call", call("background_task", R"({"agent":"demo","prompt":"permission"})"));
  const std::string id(begun.at("structuredContent").at("task_id").as_string());
  site.world.advance(10'000);
  const std::string wait = R"({"task_id":")" + id + R"(","block":true,"timeout":1})";
  const auto exchange = client.send("tools/call", call("background_output", wait));
  site.world.advance(5'000);
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->body.find("input_required"), std::string::npos) << exchange->answer->body;
  // A state that another caller was given does not help.
  client.who = net::Principal::owner();
  const json::object asked = client.result("tools/call", call("background_output", wait));
  ASSERT_EQ(asked.at("resultType"), "input_required") << json::serialize(asked);
  const std::string key(asked.at("inputRequests").as_object().begin()->key());
  const std::string answered =
      call("background_output", wait,
           R"(,"requestState":)" + json::serialize(asked.at("requestState")) + R"(,"inputResponses":{)" +
               json::serialize(json::value(key)) + R"(:{"action":"accept","content":{"decision":"allow"}}})");
  client.who = holder("tok_t", {net::Scope::tasks});
  EXPECT_TRUE(client.modern("tools/call", answered).contains("error"));
  client.who = holder("tok_a", {net::Scope::tasks, net::Scope::approve});
  EXPECT_TRUE(client.modern("tools/call", answered).contains("error")) << "it was given to another caller";
  EXPECT_TRUE(site.json({.path = "/api/tasks/" + id}).at("waiting_for").is_object()) << "nobody has answered";
}

}  // namespace
}  // namespace errand::mcp
