// model_probe: asks a model as errand's own agent does, for the tests of the client against the scripted model. Reads
// one JSON document from standard input, prints what it hears as JSON, a line each:
//
//   {"api","base_url","key","request":{"model","system","effort","cache_key","max_output_tokens",
//    "tools":[{"name","description","input_schema"}],
//    "conversation":[{"role","blocks":[{"type","text","call_id","name","input","is_error","opaque"}]}]},
//    "limits":{"silence_ms","first_byte_ms","wait_ms"}}
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "http/client.h"
#include "model/json_in.h"
#include "model/model.h"
#include "tests/http/test_server.h"

namespace {

using namespace errand;
using namespace errand::model;
namespace json = boost::json;

constexpr std::string_view types[] = {"text", "reasoning", "tool_call", "tool_result", "image"};

Block block_of(const json::value& in) {
  Block block;
  const std::string type = text(in, "type");
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i] == type) block.type = static_cast<Block::Type>(i);
  block.text = text(in, "text");
  block.call_id = text(in, "call_id");
  block.name = text(in, "name");
  block.input = text(in, "input");
  block.media_type = text(in, "media_type");
  block.data = text(in, "data");
  block.opaque = text(in, "opaque");
  if (const json::value* error = find(in, "is_error")) block.is_error = error->is_bool() && error->get_bool();
  return block;
}

template <class Take>
void each(const json::value& in, const char* name, Take&& take) {
  if (const json::value* list = find(in, name); list && list->is_array())
    for (const json::value& value : list->get_array()) take(value);
}

Request request_of(const json::value& in) {
  Request request;
  request.model = text(in, "model");
  request.system = text(in, "system");
  request.effort = text(in, "effort");
  request.cache_key = text(in, "cache_key");
  request.max_output_tokens = integer(in, "max_output_tokens").value_or(0);
  each(in, "tools", [&](const json::value& tool) {
    const json::value* schema = find(tool, "input_schema");
    request.tools.push_back({text(tool, "name"), text(tool, "description"), schema ? json::serialize(*schema) : "{}"});
  });
  each(in, "conversation", [&](const json::value& entry) {
    Entry made{text(entry, "role") == "assistant" ? Entry::Role::assistant : Entry::Role::user, {}};
    each(entry, "blocks", [&](const json::value& block) { made.blocks.push_back(block_of(block)); });
    request.conversation.push_back(std::move(made));
  });
  return request;
}

void write(JsonOut& out, const Block& block) {
  out.object().field("type", types[static_cast<size_t>(block.type)]).field("text", block.text);
  out.field("call_id", block.call_id)
      .field("name", block.name)
      .field("input", block.input)
      .field("opaque", block.opaque);
  out.field("input_broken", block.input_broken).end();
}

struct Printer : Listener {
  bool over = false;

  template <class Fill>
  void print(std::string_view event, Fill&& fill) {
    std::string line;
    JsonOut out(line);
    out.object().field("event", event);
    fill(out);
    out.end();
    std::puts(line.c_str());
    std::fflush(stdout);
  }
  void block_began(size_t index, const Block& block) override {
    print("began", [&](JsonOut& out) {
      out.field("index", index).key("block");
      write(out, block);
    });
  }
  void text(size_t index, std::string_view piece) override {
    print("text", [&](JsonOut& out) { out.field("index", index).field("text", piece); });
  }
  void input(size_t index, std::string_view piece) override {
    print("input", [&](JsonOut& out) { out.field("index", index).field("text", piece); });
  }
  void retrying(int attempt, Millis wait, const Failure& why) override {
    print("retrying",
          [&](JsonOut& out) { out.field("attempt", attempt).field("wait", wait).field("kind", name(why.kind)); });
  }
  void answered(Answer answer) override {
    over = true;
    print("answered", [&](JsonOut& out) {
      out.field("stop", name(answer.stop)).field("model", answer.model).field("cost_usd", answer.cost_usd);
      out.field("use_known", answer.use_known).key("use").object().field("input", answer.use.input);
      out.field("output", answer.use.output).field("cache_read", answer.use.cache_read);
      out.field("cache_write", answer.use.cache_write).field("reasoning", answer.use.reasoning).end();
      out.key("blocks").array();
      for (const Block& block : answer.blocks) write(out, block);
      out.end();
    });
  }
  void failed(Failure failure) override {
    over = true;
    print("failed", [&](JsonOut& out) {
      out.field("kind", name(failure.kind)).field("status", failure.status).field("message", failure.message);
      out.field("retryable", failure.retryable).field("retry_at", failure.retry_at);
    });
  }
};

}  // namespace

int main() {
  json::value in;
  if (!parse_json(std::string(std::istreambuf_iterator<char>(std::cin), {}), in)) return 2;
  http::TestLoop loop;
  SystemClock clock;
  SystemRandom random;
  TimerQueue timers(clock);
  AskLimits limits;
  if (const json::value* given = find(in, "limits")) {
    limits.silence_ms = integer(*given, "silence_ms").value_or(limits.silence_ms);
    limits.first_byte_ms = integer(*given, "first_byte_ms").value_or(limits.first_byte_ms);
    limits.first_wait_ms = integer(*given, "wait_ms").value_or(limits.first_wait_ms);
  }
  const auto client = http::make_client(loop, {});
  const auto models = make_models(*client, timers, clock, random, limits);
  const Endpoint endpoint{
      parse_api(text(in, "api")).value_or(Api::anthropic), text(in, "base_url"), text(in, "key"), {}};
  Printer printer;
  const json::value* request = find(in, "request");
  const auto ask = models->ask(endpoint, request_of(request ? *request : json::value()), printer);
  const bool ended = loop.run_until([&] {
    timers.run_due();
    return printer.over;
  });
  return ended ? 0 : 3;
}
