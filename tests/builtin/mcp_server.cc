// A small MCP server for tests: speaks the protocol on standard input and output, and misbehaves on request.
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>

#include <boost/json.hpp>

namespace json = boost::json;

namespace {

void send(const json::value& message) { std::cout << json::serialize(message) << "\n" << std::flush; }

json::object tool(const char* name) {
  return {{"name", name},
          {"description", "For tests."},
          {"inputSchema", {{"type", "object"}, {"properties", json::object()}}}};
}

json::value call(const std::string& name, const json::object& arguments) {
  std::string text;
  if (name == "echo") text = json::serialize(arguments);
  if (name == "pid") text = std::to_string(::getpid());
  if (name == "env") {
    const char* value = std::getenv(std::string(arguments.at("name").as_string()).c_str());
    text = value ? value : "(not set)";
  }
  if (name == "big") text = std::string(static_cast<size_t>(arguments.at("bytes").as_int64()), 'x');
  if (name == "die") {
    std::cerr << "I cannot go on.\n";
    std::exit(3);
  }
  json::object part{{"type", "text"}, {"text", text}};
  return {{"content", json::array{part}}, {"isError", name == "fails"}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "broken") {
    std::cerr << "no such file: config.json\n";
    return 1;
  }
  std::cout << "This line is no message.\n";
  for (std::string line; std::getline(std::cin, line);) {
    if (mode == "silent") continue;
    const json::object message = json::parse(line).as_object();
    const std::string method(message.contains("method") ? message.at("method").as_string().c_str() : "");
    if (!message.contains("id") || method.empty()) continue;
    const json::value& id = message.at("id");
    const auto answer = [&](json::value result) {
      send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    };
    if (method == "initialize") {
      answer({{"protocolVersion", mode == "old" ? "1999-01-01" : "2025-06-18"},
              {"capabilities", {{"tools", json::object()}}},
              {"serverInfo", {{"name", "test"}, {"version", "1"}}}});
      send({{"jsonrpc", "2.0"}, {"id", "p1"}, {"method", "ping"}});
    } else if (method == "tools/list") {
      const bool second = message.at("params").as_object().contains("cursor");
      json::object result;
      if (second) {
        result["tools"] = json::array{tool("die"), tool("fails"), tool("hangs"), tool("odd.name")};
      } else {
        result["tools"] =
            json::array{tool("echo"), tool("env"), tool("pid"), tool("big"), json::object{{"name", "no schema"}}};
        result["nextCursor"] = "2";
      }
      answer(std::move(result));
    } else if (method == "tools/call") {
      const json::object& params = message.at("params").as_object();
      const std::string name(params.at("name").as_string());
      if (name == "hangs") continue;
      answer(call(name, params.at("arguments").as_object()));
    }
  }
  return 0;
}
