// A client of the endpoint, without sockets, over the real engine.
#pragma once

#include <boost/json.hpp>

#include "mcp/http.h"
#include "mcp/jsonrpc.h"
#include "mcp/protocol.h"
#include "tests/api/site.h"

namespace errand::mcp {

namespace json = boost::json;

using Headers = std::vector<std::pair<std::string, std::string>>;

// A client of the endpoint.
struct Client {
  explicit Client(net::Site& with) : site(with) {}

  std::shared_ptr<net::TestExchange> begin(net::Method method, const std::string& body, Headers headers = {}) {
    auto exchange = std::make_shared<net::TestExchange>();
    exchange->request.method = method;
    exchange->request.path = "/mcp";
    exchange->request.body = body;
    exchange->request.who = who;
    exchange->request.headers = std::move(headers);
    exchange->request.headers.emplace_back("accept", "application/json, text/event-stream");
    if (!session.empty()) exchange->request.headers.emplace_back("mcp-session-id", session);
    if (!version.empty()) exchange->request.headers.emplace_back("mcp-protocol-version", version);
    endpoint.handle(exchange);
    site.world.settle();
    return exchange;
  }
  net::Response post(const std::string& body, Headers headers = {}) {
    const auto exchange = begin(net::Method::post, body, std::move(headers));
    EXPECT_TRUE(exchange->answer) << body;
    return exchange->answer.value_or(net::Response{.status = 0});
  }
  json::object ask(const std::string& method, const std::string& params = "{}", Headers headers = {}) {
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
  json::object call(const std::string& tool, const std::string& arguments, Headers headers = {}) {
    json::object message =
        ask("tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + "}", std::move(headers));
    EXPECT_TRUE(message.contains("result")) << json::serialize(message);
    return message.contains("result") ? message.at("result").as_object() : json::object();
  }
  static std::string text(const json::object& result) {
    return std::string(result.at("content").as_array().at(0).at("text").as_string());
  }

  net::Site& site;
  Protocol protocol{{.tools = site.toolbox,
                     .engine = *site.world.engine,
                     .store = *site.world.store,
                     .loop = site.world.loop,
                     .readers = site.world.readers,
                     .clock = site.world.clock,
                     .version = "0.0.0",
                     .secret = "secret"}};
  HttpEndpoint endpoint{{.protocol = protocol, .random = site.world.random, .heartbeats = site.heartbeats}};
  std::string session, version;
  net::Principal who = net::Principal::owner();
  int last_id = 0;
};

// One of 2026-07-28: no session, everything in each request.
struct ModernClient : Client {
  using Client::Client;

  static std::string meta(const std::string& capabilities) {
    return R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test",)"
           R"("version":"1"},"io.modelcontextprotocol/clientCapabilities":)" +
           capabilities + "}";
  }
  // The params with _meta in them.
  std::string with_meta(const std::string& params) const {
    json::object object = json::parse(params).as_object();
    json::object all = json::parse(meta(capabilities)).as_object();
    if (const json::value* own = object.if_contains("_meta"))
      for (const auto& member : own->as_object()) all[member.key()] = member.value();
    object["_meta"] = all;
    return json::serialize(object);
  }
  static Headers headers_for(const std::string& method, const json::object& params) {
    Headers headers = {{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}};
    for (const char* const name : {"name", "uri", "taskId"})
      if (const json::value* value = params.if_contains(name); value && value->is_string())
        headers.emplace_back("mcp-name", std::string(value->as_string()));
    return headers;
  }
  std::shared_ptr<net::TestExchange> send(const std::string& method, const std::string& params) {
    const std::string id = std::to_string(++last_id);
    return begin(
        net::Method::post,
        R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + with_meta(params) + "}",
        headers_for(method, json::parse(params).as_object()));
  }
  json::object modern(const std::string& method, const std::string& params = "{}", int status = 200) {
    const auto exchange = send(method, params);
    EXPECT_TRUE(exchange->answer) << method;
    if (!exchange->answer) return {};
    EXPECT_EQ(exchange->answer->status, status) << exchange->answer->body;
    return json::parse(exchange->answer->body).as_object();
  }
  json::object result(const std::string& method, const std::string& params = "{}") {
    json::object message = modern(method, params);
    EXPECT_TRUE(message.contains("result")) << json::serialize(message);
    if (!message.contains("result")) return {};
    json::object result = message.at("result").as_object();
    EXPECT_TRUE(result.contains("resultType")) << method;
    EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name").as_string(), "errand");
    return result;
  }
  json::object tool(const std::string& name, const std::string& arguments) {
    return result("tools/call", R"({"name":")" + name + R"(","arguments":)" + arguments + "}");
  }

  std::string capabilities = "{}";
};

}  // namespace errand::mcp
