// MCP's messages, and the versions of 2025: initialize, sessions, the GET stream.
#include "tests/mcp/client.h"

namespace errand::mcp {
namespace {

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  RpcError error;
  std::string id;
  const auto kind = [&](const char* text) { return parse_message(text, error, id)->kind; };
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), Incoming::Kind::request);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{}})"), Incoming::Kind::request);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), Incoming::Kind::notification);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"result":{}})"), Incoming::Kind::response);
}

TEST(JsonRpc, RefusesWhatIsNoMessage) {
  const std::vector<std::pair<const char*, int>> wrong = {
      {"{", code::parse_error},
      {"", code::parse_error},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})", code::invalid_request},
      {"[]", code::invalid_request},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", code::invalid_request},
      {"1", code::invalid_request},
      {R"({"id":1,"method":"x"})", code::invalid_request},
      {R"({"jsonrpc":"1.0","id":1,"method":"x"})", code::invalid_request},
      {R"({"jsonrpc":"2.0","id":null,"method":"x"})", code::invalid_request},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", code::invalid_request},
      {R"({"jsonrpc":"2.0","id":1})", code::invalid_request},
      {R"({"jsonrpc":"2.0"})", code::invalid_request},
      {R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})", code::invalid_params},
  };
  for (const auto& [text, code] : wrong) {
    RpcError error;
    std::string id;
    EXPECT_FALSE(parse_message(text, error, id)) << text;
    EXPECT_EQ(error.code, code) << text << ": " << error.message;
    EXPECT_NO_THROW(json::parse(error_message(id, error))) << text;
  }
}

TEST(Mcp, InitializesInEveryVersionItKnows) {
  net::Site site;
  for (const std::string_view version : versions) {
    Client client(site);
    const json::object result = client.open(std::string(version));
    EXPECT_EQ(result.at("protocolVersion").as_string(), version);
    EXPECT_TRUE(result.at("capabilities").as_object().contains("tools"));
    EXPECT_EQ(result.at("serverInfo").at("name").as_string(), "errand");
    EXPECT_FALSE(client.session.empty());
    EXPECT_TRUE(client.ask("ping").at("result").as_object().empty());
  }
  Client newer(site);
  EXPECT_EQ(newer.open("2099-01-01").at("protocolVersion").as_string(), versions[0]);
}

TEST(Mcp, ListsTheToolsWithTheirSchemas) {
  net::Site site;
  Client client(site);
  client.open();
  const json::object message = client.ask("tools/list");
  const json::array& tools = message.at("result").at("tools").as_array();
  EXPECT_EQ(tools.size(), site.toolbox.list().size());
  for (const json::value& tool : tools) {
    EXPECT_EQ(tool.at("inputSchema").at("type").as_string(), "object");
    EXPECT_FALSE(tool.as_object().contains("outputSchema")) << "no model reads it, and every agent would pay for it";
    const json::object& says = tool.at("annotations").as_object();
    const std::string_view name = tool.at("name").as_string();
    EXPECT_EQ(says.contains("readOnlyHint"),
              name == "background_output" || name == "background_list" || name == "look_at")
        << name;
    // What is said differs from what the protocol assumes.
    for (const auto& hint : says)
      EXPECT_EQ(hint.value().as_bool(), hint.key() == "readOnlyHint" || hint.key() == "idempotentHint") << name;
  }
}

TEST(Mcp, ListsForkOnlyWhereTheConversationCanBeCopied) {
  net::Site site;
  const auto lists_fork = [](Client& client, Headers headers = {}) {
    const json::object message = client.ask("tools/list", "{}", std::move(headers));
    for (const json::value& tool : message.at("result").at("tools").as_array())
      if (tool.at("name").as_string() == "background_task")
        return tool.at("inputSchema").at("properties").as_object().contains("fork");
    ADD_FAILURE() << "background_task is listed";
    return false;
  };
  Client client(site);
  client.open();
  EXPECT_FALSE(lists_fork(client));
  for (const auto& [session, forks] : {std::pair{"ses_of_opencode", true},
                                       {"6c8b1a54-7f0e-4c7b-9d0e-0a1b2c3d4e5f", true},
                                       {"a-name-of-mine", false}}) {
    EXPECT_EQ(lists_fork(client, {{"errand-session-id", session}}), forks) << session;
  }
}

TEST(Mcp, CallsToolsForItsSessionAndTellsWhatEndedWithTheNextAnswer) {
  net::Site site;
  Client client(site);
  client.open();
  const json::object made = client.call("background_task", R"({"agent":"demo","prompt":"long 1"})");
  EXPECT_FALSE(made.at("isError").as_bool());
  const std::string id(made.at("structuredContent").at("task_id").as_string());
  EXPECT_EQ(site.world.get(TaskId(id)).launch.parent_session_id.value, client.session);
  site.world.advance(3'000);
  const json::object list = client.call("background_list", "{}");
  EXPECT_NE(Client::text(list).find(id), std::string::npos);
  ASSERT_EQ(list.at("content").as_array().size(), 2U) << "R5.5: the notice comes with the next answer";
  EXPECT_NE(json::serialize(list.at("content").as_array().at(1)).find("Background Task Completed"), std::string::npos);
  // Some clients show their model what is structured and nothing else.
  const json::array& notices = list.at("structuredContent").at("notices").as_array();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices.at(0).as_string().find("Background Task Completed"), json::string::npos);
  const json::object again = client.call("background_list", "{}");
  EXPECT_EQ(again.at("content").as_array().size(), 1U) << "and only once";
  EXPECT_FALSE(again.at("structuredContent").as_object().contains("notices"));
  Client other(site);
  other.open();
  EXPECT_EQ(Client::text(other.call("background_list", "{}")), "No background tasks found");
}

TEST(Mcp, WrongCallsAreForTheAgentWrongMessagesForTheClient) {
  net::Site site;
  Client client(site);
  client.open();
  const json::object wrong = client.call("background_output", R"({"task_id":"x"})");
  EXPECT_TRUE(wrong.at("isError").as_bool());
  EXPECT_FALSE(wrong.contains("structuredContent"));
  EXPECT_EQ(client.ask("tools/call", R"({"name":"no_such_tool"})").at("error").at("code").as_int64(),
            code::invalid_params);
  EXPECT_EQ(client.ask("tools/call", "{}").at("error").at("code").as_int64(), code::invalid_params);
  EXPECT_EQ(client.ask("no/such").at("error").at("code").as_int64(), code::method_not_found);
  EXPECT_EQ(client.ask("tools/list", R"({"cursor":"x"})").at("error").at("code").as_int64(), code::invalid_params);
  EXPECT_EQ(client.post("{").status, 400);
}

TEST(Mcp, ASessionIsNeededAndIsForgottenOnRequestAndItsTasksGoOn) {
  net::Site site;
  Client client(site);
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").status, 400);
  client.session = "ses_mcp_never";
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").status, 404);
  client.session.clear();
  client.open();
  const std::string id(client.call("background_task", R"({"agent":"demo","prompt":"long 60"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  // Another endpoint, as after a restart, knows it too.
  Client later(site);
  later.session = client.session;
  EXPECT_NE(Client::text(later.call("background_list", "{}")).find(id), std::string::npos);
  EXPECT_EQ(client.begin(net::Method::del, "")->answer->status, 204);
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").status, 404);
  EXPECT_EQ(site.world.get(TaskId(id)).state, TaskState::running);
}

TEST(Mcp, AVersionThatIsNotSpokenIsRefusedWithThoseThatAre) {
  net::Site site;
  Client client(site);
  client.version = "2099-01-01";
  const net::Response refused = client.post(R"({"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{}})");
  EXPECT_EQ(refused.status, 400);
  const json::value body = json::parse(refused.body);
  EXPECT_EQ(body.at("error").at("code").as_int64(), code::unsupported_version);
  EXPECT_EQ(body.at("error").at("data").at("supported").as_array().at(0).as_string(), modern_version);
  EXPECT_EQ(body.at("id").as_string(), "probe");
}

TEST(Mcp, TheCallerMayNameItsOwnSession) {
  net::Site site;
  Client client(site), second(site);
  client.open();
  second.open();
  const std::string id(
      client.call("background_task", R"({"agent":"demo","prompt":"noop"})", {{"errand-session-id", "claude-1"}})
          .at("structuredContent")
          .at("task_id")
          .as_string());
  EXPECT_EQ(site.world.get(TaskId(id)).launch.parent_session_id.value, "claude-1");
  EXPECT_NE(Client::text(second.call("background_list", "{}", {{"errand-session-id", "claude-1"}})).find(id),
            std::string::npos);
  const json::object codex =
      second.ask("tools/call", R"({"name":"background_list","arguments":{},"_meta":{"threadId":"claude-1"}})");
  EXPECT_NE(Client::text(codex.at("result").as_object()).find(id), std::string::npos);
  EXPECT_EQ(Client::text(second.call("background_list", "{}", {{"errand-session-id", "../../x"}})),
            "No background tasks found");
}

TEST(Mcp, CancelledGivesUpTheWaitNeverTheTask) {
  net::Site site;
  Client client(site);
  client.open();
  const std::string id(client.call("background_task", R"({"agent":"demo","prompt":"long 3"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  const auto waiting = client.begin(
      net::Method::post,
      R"({"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"background_output","arguments":{"block":true,"task_id":")" +
          id + "\"}}}");
  EXPECT_FALSE(waiting->answer);
  EXPECT_EQ(client.protocol.calls_under_way(), 1U);
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}})").status,
            202);
  EXPECT_TRUE(waiting->answer);
  EXPECT_EQ(client.protocol.calls_under_way(), 0U);
  site.world.advance(8'000);
  EXPECT_EQ(site.world.get(TaskId(id)).state, TaskState::completed);
  EXPECT_FALSE(site.world.get(TaskId(id)).retrieved_at);
  EXPECT_EQ(client.call("background_list", "{}").at("content").as_array().size(), 2U) << "it is still told";
}

TEST(Mcp, TheStreamShowsNoticesAndGoesOnBehindTheLastOne) {
  net::Site site;
  Client client(site);
  client.open();
  const auto open = [&](std::vector<std::pair<std::string, std::string>> headers) {
    auto exchange = client.begin(net::Method::get, "", std::move(headers));
    EXPECT_TRUE(exchange->source);
    auto reader = std::make_unique<net::Reader>(std::move(exchange->source));
    reader->pump();
    site.world.settle();
    return reader;
  };
  const auto reader = open({});
  client.call("background_task", R"({"agent":"demo","prompt":"noop"})");
  site.world.advance(200);
  std::vector<net::Reader::Seen> notices;
  int lists = 0;
  for (const net::Reader::Seen& seen : reader->events()) {
    if (seen.data.at("method").as_string() == "notifications/message") notices.push_back(seen);
    if (seen.data.at("method").as_string() == "notifications/resources/list_changed") ++lists;
  }
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].data.at("params").at("data").at("kind").as_string(), "turn_ended");
  EXPECT_EQ(lists, 2) << "when it was launched, and when it ended";
  EXPECT_EQ(open({{"last-event-id", notices[0].id}})->events().size(), 0U);
}

TEST(Mcp, TheStreamTellsOfTheResourcesThatWereSubscribedTo) {
  net::Site site;
  Client client(site);
  client.open();
  auto exchange = client.begin(net::Method::get, "");
  net::Reader reader(std::move(exchange->source));
  reader.pump();
  const std::string id(client.call("background_task", R"({"agent":"demo","prompt":"long 9"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  const auto updates = [&] {
    int count = 0;
    for (const net::Reader::Seen& seen : reader.events())
      if (seen.data.at("method").as_string() == "notifications/resources/updated") {
        EXPECT_EQ(seen.data.at("params").at("uri").as_string(), "task://" + id + "/transcript");
        ++count;
      }
    return count;
  };
  site.world.advance(500);
  EXPECT_EQ(updates(), 0);
  const std::string uri = R"({"uri":"task://)" + id + R"(/transcript"})";
  EXPECT_TRUE(client.ask("resources/subscribe", uri).contains("result"));
  site.world.advance(3'000);
  const int before = updates();
  EXPECT_GT(before, 0);
  EXPECT_TRUE(client.ask("resources/unsubscribe", uri).contains("result"));
  site.world.advance(5'000);
  EXPECT_EQ(updates(), before);
  EXPECT_EQ(client.ask("resources/subscribe", R"({"uri":"file:///etc/passwd"})").at("error").at("code").as_int64(),
            code::unknown_resource_2025);
}

}  // namespace
}  // namespace errand::mcp
