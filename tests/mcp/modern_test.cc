// MCP 2026-07-28: what each request must say, how a wrong one is refused, what every answer carries.
#include "mcp/modern.h"

#include "mcp/answer_stream.h"
#include "mcp/task_uri.h"
#include "tests/mcp/client.h"

namespace errand::mcp {
namespace {

TEST(Modern, DiscoverSaysWhatThereIs) {
  net::Site site;
  ModernClient client(site);
  const json::object found = client.result("server/discover");
  EXPECT_EQ(found.at("supportedVersions").as_array().at(0).as_string(), modern_version);
  EXPECT_EQ(found.at("supportedVersions").as_array().size(), 1 + std::size(versions));
  EXPECT_TRUE(found.at("capabilities").at("extensions").as_object().contains(tasks_extension));
  EXPECT_GT(found.at("ttlMs").as_int64(), 0);
  EXPECT_EQ(found.at("cacheScope").as_string(), "public");
  EXPECT_FALSE(found.at("instructions").as_string().empty());
}

TEST(Modern, EveryListSaysHowLongItHolds) {
  net::Site site;
  ModernClient client(site);
  client.tool("background_task", R"({"agent":"demo","prompt":"noop"})");
  for (const char* const method :
       {"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
    const json::object result = client.result(method);
    EXPECT_EQ(result.at("resultType").as_string(), "complete") << method;
    EXPECT_TRUE(result.at("ttlMs").is_int64()) << method;
    EXPECT_TRUE(result.contains("cacheScope")) << method;
  }
  for (const json::value& tool : client.result("tools/list").at("tools").as_array())
    EXPECT_FALSE(tool.as_object().contains("execution"));
}

TEST(Modern, WhatHeadersAndBodyMustSayIsCheckedWithItsCode) {
  net::Site site;
  ModernClient client(site);
  const std::string good = ModernClient::meta("{}");
  struct Case {
    const char* what;
    std::string params;
    Headers headers;
    int status, code;
    const char* method = "tools/list";
  };
  const std::string params = R"({"_meta":)" + good + "}";
  const std::string older =
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}})";
  const std::string named = R"({"name":"background_list","arguments":{},"_meta":)" + good + "}";
  const std::vector<Case> cases = {
      {"no version header", params, {{"mcp-method", "tools/list"}}, 400, code::header_mismatch},
      {"another version in the header",
       params,
       {{"mcp-protocol-version", "2025-11-25"}, {"mcp-method", "tools/list"}},
       400,
       code::header_mismatch},
      {"no method header", params, {{"mcp-protocol-version", "2026-07-28"}}, 400, code::header_mismatch},
      {"another method",
       params,
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}},
       400,
       code::header_mismatch},
      {"the method in other letters",
       params,
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "Tools/List"}},
       400,
       code::header_mismatch},
      {"no _meta",
       "{}",
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/list"}},
       400,
       code::invalid_params},
      {"no capabilities",
       R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})",
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/list"}},
       400,
       code::invalid_params},
      {"a version of tomorrow",
       older,
       {{"mcp-protocol-version", "2027-01-01"}, {"mcp-method", "tools/list"}},
       400,
       code::unsupported_version},
      {"no name header",
       named,
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}},
       400,
       code::header_mismatch,
       "tools/call"},
      {"another name",
       named,
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "look_at"}},
       400,
       code::header_mismatch,
       "tools/call"},
      {"a name that is no base64",
       named,
       {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "=?base64?*?="}},
       400,
       code::header_mismatch,
       "tools/call"},
      {"all well, the name in base64",
       named,
       {{"mcp-protocol-version", " 2026-07-28 "},
        {"mcp-method", "tools/call"},
        {"mcp-name", "=?base64?YmFja2dyb3VuZF9saXN0?="}},
       200,
       0,
       "tools/call"},
      {"all well", params, {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/list"}}, 200, 0},
  };
  for (const Case& one : cases) {
    const net::Response response = client.post(
        R"({"jsonrpc":"2.0","id":"x","method":")" + std::string(one.method) + R"(","params":)" + one.params + "}",
        one.headers);
    EXPECT_EQ(response.status, one.status) << one.what << ": " << response.body;
    const json::value body = json::parse(response.body);
    EXPECT_EQ(body.at("id").as_string(), "x") << one.what;
    if (one.code != 0) EXPECT_EQ(body.at("error").at("code").as_int64(), one.code) << one.what << ": " << response.body;
  }
}

TEST(Modern, MethodsOfTheOtherEraAreNotFound) {
  net::Site site;
  ModernClient client(site);
  for (const char* const method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"}) {
    const json::object refused = client.modern(method, "{}", 404);
    EXPECT_EQ(refused.at("error").at("code").as_int64(), code::method_not_found) << method;
  }
  EXPECT_EQ(client.modern("tools/call", R"({"name":"nothing"})").at("error").at("code").as_int64(),
            code::invalid_params);
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","id":1,"result":{}})", {{"mcp-protocol-version", "2026-07-28"}}).status,
            400);
  const std::string note = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":)" +
                           ModernClient::meta("{}") + "}}";
  EXPECT_EQ(
      client.post(note, {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "notifications/cancelled"}}).status,
      202);
}

TEST(Modern, BothErasAreServedSideBySide) {
  net::Site site;
  Client legacy(site);
  ModernClient modern(site);
  legacy.open();
  const std::string id(legacy.call("background_task", R"({"agent":"demo","prompt":"noop"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  EXPECT_EQ(ModernClient::text(modern.tool("background_list", "{}")), "No background tasks found");
  const std::string meta =
      R"({"name":"background_list","arguments":{},"_meta":{"errand/session":")" + legacy.session + R"("}})";
  EXPECT_NE(ModernClient::text(modern.result("tools/call", meta)).find(id), std::string::npos);
  EXPECT_NE(ModernClient::text(
                modern.result("tools/call", R"({"name":"background_list","arguments":{},"_meta":{"threadId":")" +
                                                legacy.session + R"("}})"))
                .find(id),
            std::string::npos);
}

TEST(Modern, TheSameClientIsToldOfWhatEndedWithItsNextCall) {
  net::Site site;
  ModernClient client(site), again(site);
  client.tool("background_task", R"({"agent":"demo","prompt":"long 1"})");
  site.world.advance(5'000);
  EXPECT_EQ(again.tool("background_list", "{}").at("content").as_array().size(), 2U);
  EXPECT_EQ(client.tool("background_list", "{}").at("content").as_array().size(), 1U);
}

TEST(Modern, ListeningIsAcknowledgedAndTellsWhatWasAskedFor) {
  net::Site site;
  ModernClient client(site);
  client.capabilities = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  const json::object made = client.tool("background_task", R"({"agent":"demo","prompt":"long 1"})");
  EXPECT_EQ(made.at("resultType").as_string(), "task");
  const std::string handle(made.at("taskId").as_string()), id = handle.substr(0, handle.find('.'));
  const auto exchange = client.send(
      "subscriptions/listen",
      R"({"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["task://)" +
          id + R"(/result","http://x/"],"taskIds":[")" + handle + R"(","task_x.1.1.y"]}})");
  ASSERT_TRUE(exchange->source);
  net::Reader reader(std::move(exchange->source));
  reader.pump();
  site.world.advance(3'000);
  const auto events = reader.events();
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events[0].data.at("method").as_string(), "notifications/subscriptions/acknowledged");
  const json::object& honoured = events[0].data.at("params").at("notifications").as_object();
  EXPECT_FALSE(honoured.contains("toolsListChanged")) << "the tools never change";
  EXPECT_EQ(honoured.at("resourceSubscriptions").as_array().size(), 1U);
  EXPECT_EQ(honoured.at("taskIds").as_array().size(), 1U);
  std::set<std::string> methods;
  std::string last;
  for (const net::Reader::Seen& seen : events) {
    EXPECT_EQ(seen.data.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId").as_int64(),
              client.last_id);
    EXPECT_TRUE(seen.id.empty()) << "nothing is resumed in this era";
    methods.emplace(seen.data.at("method").as_string());
    if (seen.data.at("method").as_string() == "notifications/tasks")
      last = std::string(seen.data.at("params").at("status").as_string());
  }
  EXPECT_EQ(methods,
            (std::set<std::string>{"notifications/subscriptions/acknowledged", "notifications/resources/list_changed",
                                   "notifications/resources/updated", "notifications/tasks"}));
  EXPECT_EQ(last, "completed");
}

TEST(Modern, LeavingAnAnswerThatStreamsGivesUpTheWaitAlone) {
  net::Site site;
  ModernClient client(site);
  const std::string id(client.tool("background_task", R"({"agent":"demo","prompt":"long 2"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  const std::string call = R"({"name":"background_output","arguments":{"block":true,"task_id":")" + id +
                           R"("},"_meta":{"progressToken":"p"}})";
  auto left = client.send("tools/call", call);
  ASSERT_TRUE(left->source) << "with a progress token it is a stream";
  left->source.reset();
  site.world.settle();
  EXPECT_EQ(client.protocol.calls_under_way(), 0U);
  const auto stays = client.send("tools/call", call);
  net::Reader reader(std::move(stays->source));
  reader.pump();
  site.world.advance(5'000);
  ASSERT_TRUE(reader.ended);
  ASSERT_EQ(reader.events().size(), 1U);
  EXPECT_EQ(reader.events()[0].data.at("result").at("resultType").as_string(), "complete");
  EXPECT_EQ(site.world.get(TaskId(id)).state, TaskState::completed);
}

TEST(Modern, ProgressIsToldWhileNothingElseIsAndGrows) {
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  net::Heartbeats heartbeats(*loop, 32);
  SystemClock clock;
  auto cancellation = std::make_shared<tools::Cancellation>();
  auto stream = std::make_unique<AnswerStream>(heartbeats, clock, "\"p\"", cancellation);
  Answering answer = stream->answering();
  net::Reader reader(std::move(stream));
  const auto timer = loop->timer();
  std::function<void()> look = [&] {
    if (reader.events().size() >= 3 && !reader.ended) answer({R"({"jsonrpc":"2.0","id":1,"result":{}})", 0});
    if (reader.ended) return loop->stop();
    timer->set(clock.steady() + 1, [&] { look(); });
  };
  loop->post([&] { look(); });
  loop->run();
  double last = 0;
  const auto events = reader.events();
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i].data.at("method").as_string(), "notifications/progress");
    EXPECT_EQ(events[i].data.at("params").at("progressToken").as_string(), "p");
    const double progress = events[i].data.at("params").at("progress").to_number<double>();
    EXPECT_GT(progress, last);
    last = progress;
  }
  EXPECT_TRUE(events.back().data.as_object().contains("result"));
  EXPECT_FALSE(cancellation->cancelled()) << "it was answered";
}

TEST(Modern, APermissionIsAskedOfThePersonAndTheCallComesAgain) {
  net::Site site;
  ModernClient client(site);
  const std::string id(client.tool("background_task", R"({"agent":"demo","prompt":"permission"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  const std::string arguments = R"("name":"background_output","arguments":{"block":true,"task_id":")" + id + R"("})";
  client.capabilities = R"({"elicitation":{}})";
  const auto first = client.send("tools/call", "{" + arguments + "}");
  site.world.advance(3'000);
  ASSERT_TRUE(first->answer) << "it does not wait for good";
  const json::object asked = json::parse(first->answer->body).at("result").as_object();
  EXPECT_EQ(asked.at("resultType").as_string(), "input_required");
  const json::object& requests = asked.at("inputRequests").as_object();
  ASSERT_EQ(requests.size(), 1U);
  const std::string key(requests.begin()->key());
  EXPECT_EQ(requests.begin()->value().at("method").as_string(), "elicitation/create");
  const json::value& schema = requests.begin()->value().at("params").at("requestedSchema");
  EXPECT_EQ(schema.at("properties").at("decision").at("type").as_string(), "string");
  const std::string state(asked.at("requestState").as_string());
  const auto answers = [&](const std::string& with, const std::string& said) {
    return "{" + arguments + R"(,"requestState":)" + json::serialize(json::string(with)) + R"(,"inputResponses":{")" +
           key + "\":" + said + "}}";
  };
  const std::string yes = R"({"action":"accept","content":{"decision":"allow"}})";
  // What was changed, or belongs to another call, is refused and does nothing.
  EXPECT_EQ(client.modern("tools/call", answers(state + "x", yes)).at("error").at("code").as_int64(),
            code::invalid_params);
  EXPECT_EQ(client
                .modern("tools/call", R"({"name":"background_list","arguments":{},"requestState":)" +
                                          json::serialize(json::string(state)) + "}")
                .at("error")
                .at("code")
                .as_int64(),
            code::invalid_params);
  EXPECT_NE(open_ask(site.world.get(TaskId(id))), nullptr);
  // Dismissed: the plain answer, and the question stays.
  EXPECT_EQ(client.result("tools/call", answers(state, R"({"action":"cancel"})")).empty(), false);
  EXPECT_NE(open_ask(site.world.get(TaskId(id))), nullptr);
  const auto again = client.send("tools/call", answers(state, yes));
  site.world.advance(5'000);
  ASSERT_TRUE(again->answer);
  EXPECT_EQ(json::parse(again->answer->body).at("result").at("resultType").as_string(), "complete");
  EXPECT_EQ(site.world.get(TaskId(id)).state, TaskState::completed);
}

TEST(Modern, AQuestionToTheAgentEndsItsWait) {
  net::Site site;
  ModernClient client(site);
  const std::string id(client.tool("background_task", R"({"agent":"demo","prompt":"ask"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  const auto waiting =
      client.send("tools/call",
                  R"({"name":"background_output","arguments":{"block":true,"timeout":60,"task_id":")" + id + R"("}})");
  site.world.advance(3'000);
  ASSERT_TRUE(waiting->answer);
  EXPECT_NE(waiting->answer->body.find("Which colour"), std::string::npos);
  EXPECT_EQ(json::parse(waiting->answer->body).at("result").at("resultType").as_string(), "complete");
}

}  // namespace
}  // namespace errand::mcp
