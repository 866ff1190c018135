// The whole of /mcp, both eras: whatever headers and body a client sends, it is answered once, in JSON or as a stream
// of JSON, and nothing ends the server.
//
// The input: a byte of flags, header lines, an empty line, the body. So that chance gets deep, `$TASK`, `$HANDLE`,
// `$STATE`, `$KEY` and `$SESSION` in headers and body stand for a task that is there and for what was answered last (a
// handle of an MCP task, the state and the key of a question, a session), and a flag lets the headers that 2026-07-28
// repeats from the body be right.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "mcp/http.h"
#include "mcp/jsonrpc.h"
#include "mcp/protocol.h"
#include "net/loop.h"
#include "net/sse.h"
#include "tests/tools/fuzz_world.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

enum Flags : uint8_t { is_get = 1, is_delete = 2, repeats_body = 4, is_reader = 8, is_task = 16, stays = 32 };

class Asked final : public net::Exchange {
 public:
  void reply(net::Response response) override {
    ERRAND_CHECK(!answer && !source, "a request is answered once");
    answer = std::move(response);
  }
  void stream(net::Response response, std::unique_ptr<net::StreamSource> given) override {
    ERRAND_CHECK(!answer && !source, "a request is answered once");
    answer = std::move(response);
    source = std::move(given);
    source->on_ready([] {});
  }
  void on_gone(std::function<void()> told) override { gone = std::move(told); }

  std::optional<net::Response> answer;
  std::unique_ptr<net::StreamSource> source;
  std::function<void()> gone;
};

struct World : tools::FuzzWorld {
  std::unique_ptr<net::Loop> timer_loop = net::Loop::make();
  net::Heartbeats heartbeats{*timer_loop};
  Protocol protocol{{.tools = toolbox,
                     .engine = *engine,
                     .store = *store,
                     .loop = loop,
                     .readers = loop,
                     .clock = clock,
                     .version = "0.0.0",
                     .secret = "secret"}};
  HttpEndpoint endpoint{{.protocol = protocol, .random = random, .heartbeats = heartbeats}};
  std::string handle = "none", state = "none", key = "none", session = "none";
  std::vector<std::shared_ptr<Asked>> open;  // Streams that stay open over the next requests.
};

std::string filled(const World& world, std::string_view text) {
  const std::pair<std::string_view, const std::string*> values[] = {{"$TASK", &world.task},
                                                                    {"$HANDLE", &world.handle},
                                                                    {"$STATE", &world.state},
                                                                    {"$KEY", &world.key},
                                                                    {"$SESSION", &world.session}};
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t taken = 0;
    for (const auto& [name, value] : values)
      if (taken == 0 && text.substr(i).starts_with(name)) {
        out += *value;
        taken = name.size();
      }
    if (taken == 0) out += text[i];
    i += std::max<size_t>(taken, 1);
  }
  return out;
}

// What a client of 2026-07-28 repeats in headers.
void repeat_body(net::Request& request) {
  json::error_code error;
  const json::value body = json::parse(request.body, error);
  if (error || !body.is_object()) return;
  const auto text = [](const json::value* value) {
    return value && value->is_string() ? std::string(value->as_string()) : std::string();
  };
  request.headers.emplace_back("mcp-method", text(body.as_object().if_contains("method")));
  const json::value* params = body.as_object().if_contains("params");
  if (!params || !params->is_object()) return;
  const json::value* meta = params->as_object().if_contains("_meta");
  if (meta && meta->is_object())
    if (const std::string version = text(meta->as_object().if_contains("io.modelcontextprotocol/protocolVersion"));
        !version.empty())
      request.headers.emplace_back("mcp-protocol-version", version);
  for (const char* const name : {"name", "uri", "taskId"})
    if (const std::string named = text(params->as_object().if_contains(name)); !named.empty())
      request.headers.emplace_back("mcp-name", named);
}

// Remembers what the next request may refer to.
void learn(World& world, const json::value& message) {
  const json::object* object = message.if_object();
  const json::value* result = object ? object->if_contains("result") : nullptr;
  if (!result || !result->is_object()) return;
  const json::object& said = result->as_object();
  const json::value* nested = said.if_contains("task");
  const json::object& task = nested && nested->is_object() ? nested->as_object() : said;
  if (const json::value* id = task.if_contains("taskId"); id && id->is_string()) world.handle = id->as_string();
  if (const json::value* state = said.if_contains("requestState"); state && state->is_string())
    world.state = state->as_string();
  if (const json::value* asks = said.if_contains("inputRequests");
      asks && asks->is_object() && !asks->as_object().empty())
    world.key = asks->as_object().begin()->key();
}

void check_message(World& world, std::string_view text) {
  ERRAND_CHECK(is_utf8(text), "what is answered is UTF-8");
  json::error_code error;
  const json::value message = json::parse(text, error);
  ERRAND_CHECK(!error && message.is_object(), "what is answered is a JSON object");
  learn(world, message);
}

// Takes what a stream has to say now; true: it has ended.
bool drain(World& world, Asked& asked) {
  std::string text;
  bool ended = false;
  for (int pulls = 0; pulls < 200 && !ended; ++pulls) {
    std::vector<net::Slice> slices;
    const auto pulled = asked.source->pull(slices, 64 * 1024);
    for (const net::Slice& slice : slices) text += slice.bytes;
    ended = pulled == net::StreamSource::Pulled::end;
    if (slices.empty()) break;
  }
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("data: ")) check_message(world, line.substr(6));
  return ended;
}

void ask(uint8_t flags, std::string_view headers, std::string_view body) {
  auto& world = tools::next_world<World>();
  const auto asked = std::make_shared<Asked>();
  net::Request& request = asked->request;
  request.method = flags & is_get ? net::Method::get : flags & is_delete ? net::Method::del : net::Method::post;
  request.path = "/mcp";
  request.who = net::Principal::owner();
  if (flags & (is_reader | is_task)) {
    request.who = {};
    request.who.id = flags & is_task ? world.task : "tok_reader";
    request.who.scopes.add(flags & is_task ? net::Scope::tasks : net::Scope::read);
    if (flags & is_task) request.who.session = SessionId("ses_a");
  }
  for (const std::string_view line : split(headers, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.emplace_back(net::lower_case(trim(line.substr(0, colon))),
                                 filled(world, trim(line.substr(colon + 1))));
  }
  request.body = filled(world, body);
  if (flags & repeats_body) repeat_body(request);
  world.endpoint.handle(asked);
  // The longest that a call may wait; a stream has its own time. tasks/result waits as long as its client does, and the
  // task may wait for a person.
  for (int i = 0; i < 8 && !asked->answer; ++i) world.pass(600'000);
  if (!asked->answer && asked->gone) {
    std::exchange(asked->gone, nullptr)();
    world.pass(1);
  }
  ERRAND_CHECK(asked->answer.has_value(), "every request is answered, or its wait is given up when the client leaves");
  const net::Response& answer = *asked->answer;
  ERRAND_CHECK(answer.status >= 200 && answer.status < 600, "with a status");
  for (const auto& [name, value] : answer.headers)
    if (name == "Mcp-Session-Id") world.session = value;
  if (!answer.body.empty()) check_message(world, answer.body);
  if (!asked->source) return;
  for (int i = 0; i < 4; ++i) {
    if (drain(world, *asked)) return;
    world.pass(1'000);
  }
  if (flags & stays && world.open.size() < 8) world.open.push_back(asked);
  for (const auto& stream : world.open) drain(world, *stream);
}

}  // namespace
}  // namespace errand::mcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (errand::set_log_level(errand::LogLevel::error), true);
  if (!quiet || size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = std::min(text.find("\n\n"), text.size());
  errand::mcp::ask(data[0], text.substr(0, end), text.substr(std::min(text.size(), end + 2)));
  return 0;
}
