// MCP without sockets: the messages, the methods, and the endpoint over the real engine.
#include <boost/json.hpp>

#include "mcp/http.h"
#include "mcp/jsonrpc.h"
#include "mcp/protocol.h"
#include "tests/api/site.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

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

// A client of the endpoint.
struct Client {
  explicit Client(net::Site& with) : site(with) {}

  std::shared_ptr<net::TestExchange> begin(net::Method method, const std::string& body,
                                           std::vector<std::pair<std::string, std::string>> headers = {}) {
    auto exchange = std::make_shared<net::TestExchange>();
    exchange->request.method = method;
    exchange->request.path = "/mcp";
    exchange->request.body = body;
    exchange->request.headers = std::move(headers);
    if (!session.empty()) exchange->request.headers.emplace_back("mcp-session-id", session);
    if (!version.empty()) exchange->request.headers.emplace_back("mcp-protocol-version", version);
    endpoint.handle(exchange);
    site.world.settle();
    return exchange;
  }
  net::Response post(const std::string& body, std::vector<std::pair<std::string, std::string>> headers = {}) {
    const auto exchange = begin(net::Method::post, body, std::move(headers));
    EXPECT_TRUE(exchange->answer) << body;
    return exchange->answer.value_or(net::Response{.status = 0});
  }
  json::object ask(const std::string& method, const std::string& params = "{}",
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
    const std::string id = std::to_string(++last_id);
    const net::Response response =
        post(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}",
             std::move(headers));
    EXPECT_EQ(response.status, 200) << response.body;
    json::object message = json::parse(response.body).as_object();
    EXPECT_EQ(message.at("jsonrpc").as_string(), "2.0");
    EXPECT_EQ(json::serialize(message.at("id")), id);
    for (const auto& [name, value] : response.headers)
      if (name == "Mcp-Session-Id") session = value;
    return message;
  }
  json::object open(const std::string& wanted = "2025-11-25") {
    json::object result = ask("initialize", R"({"protocolVersion":")" + wanted +
                                                R"(","capabilities":{},"clientInfo":{"name":"test","version":"1"}})")
                              .at("result")
                              .as_object();
    version = std::string(result.at("protocolVersion").as_string());
    EXPECT_EQ(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
    return result;
  }
  json::object call(const std::string& tool, const std::string& arguments,
                    std::vector<std::pair<std::string, std::string>> headers = {}) {
    json::object message =
        ask("tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + "}", std::move(headers));
    EXPECT_TRUE(message.contains("result")) << json::serialize(message);
    return message.contains("result") ? message.at("result").as_object() : json::object();
  }
  static std::string text(const json::object& result) {
    return std::string(result.at("content").as_array().at(0).at("text").as_string());
  }

  net::Site& site;
  Protocol protocol{{.tools = site.toolbox, .engine = *site.world.engine, .version = "0.0.0"}};
  HttpEndpoint endpoint{{.protocol = protocol,
                         .engine = *site.world.engine,
                         .store = *site.world.store,
                         .loop = site.world.loop,
                         .readers = site.world.readers,
                         .random = site.world.random,
                         .heartbeats = site.heartbeats}};
  std::string session, version;
  int last_id = 0;
};

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
    EXPECT_EQ(tool.at("outputSchema").at("type").as_string(), "object");
    EXPECT_TRUE(tool.at("annotations").at("readOnlyHint").is_bool());
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
  EXPECT_EQ(client.call("background_list", "{}").at("content").as_array().size(), 1U) << "and only once";
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
  EXPECT_EQ(client.ask("resources/list").at("error").at("code").as_int64(), code::method_not_found);
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
  client.version = "2026-07-28";
  const net::Response refused = client.post(R"({"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{}})");
  EXPECT_EQ(refused.status, 400);
  const json::value body = json::parse(refused.body);
  EXPECT_EQ(body.at("error").at("code").as_int64(), code::unsupported_version);
  EXPECT_EQ(body.at("error").at("data").at("supported").as_array().size(), std::size(versions));
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
  ASSERT_EQ(reader->events().size(), 1U);
  EXPECT_EQ(reader->events()[0].data.at("method").as_string(), "notifications/message");
  EXPECT_EQ(reader->events()[0].data.at("params").at("data").at("kind").as_string(), "turn_ended");
  EXPECT_EQ(open({{"last-event-id", reader->events()[0].id}})->events().size(), 0U);
}

}  // namespace
}  // namespace errand::mcp
