// Anthropic Messages: POST /v1/messages.
#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "model/encode.h"
#include "model/encode_api.h"

namespace errand::model {
namespace {

constexpr int64_t thinking_budget_min = 1024;

// Where the provider may cache up to: tools, system, and the last two messages of the user (the one before was the last
// one of the request before, so that what it wrote is what this one reads). Four are allowed.
constexpr size_t marked_messages = 2;

void mark(JsonOut& out) { out.key("cache_control").object().field("type", "ephemeral").end(); }

void write_tools(JsonOut& out, const Request& request) {
  if (request.tools.empty()) return;
  out.key("tools").array();
  for (const ToolSpec& tool : request.tools) {
    out.object().field("name", tool.name).field("description", tool.description);
    out.key("input_schema").raw(valid_schema(tool.input_schema));
    if (&tool == &request.tools.back()) mark(out);
    out.end();
  }
  out.end();
}

// What the provider signed goes back as it came; reasoning without its signature is refused, so it stays out.
bool can_send(const Block& block) {
  return block.type != Block::Type::reasoning || !opaque_of(Api::anthropic, block).empty();
}

void write_reasoning(JsonOut& out, const Block& block) {
  boost::system::error_code error;
  const std::string_view opaque = opaque_of(Api::anthropic, block);
  const boost::json::value own = boost::json::parse({opaque.data(), opaque.size()}, error);
  const auto get = [&](const char* name) {
    const boost::json::object* object = own.if_object();
    const boost::json::value* value = object ? object->if_contains(name) : nullptr;
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  if (const std::string redacted = get("redacted"); !redacted.empty())
    out.object().field("type", "redacted_thinking").field("data", redacted);
  else
    out.object().field("type", "thinking").field("thinking", block.text).field("signature", get("signature"));
}

void write_block(JsonOut& out, const Block& block, bool marked) {
  switch (block.type) {
    case Block::Type::text:
      out.object().field("type", "text").field("text", block.text);
      break;
    case Block::Type::reasoning:
      write_reasoning(out, block);
      break;
    case Block::Type::tool_call:
      out.object().field("type", "tool_use").field("id", block.call_id).field("name", block.name);
      out.key("input").raw(valid_input(block.input));
      break;
    case Block::Type::tool_result:
      out.object().field("type", "tool_result").field("tool_use_id", block.call_id);
      out.field("content", block.text);
      if (block.is_error) out.field("is_error", true);
      break;
    case Block::Type::image:
      out.object().field("type", "image").key("source").object().field("type", "base64");
      out.field("media_type", block.media_type).field("data", block.data).end();
      break;
  }
  if (marked && block.type != Block::Type::reasoning) mark(out);
  out.end();
}

void write_messages(JsonOut& out, const std::vector<Entry>& conversation) {
  size_t users = static_cast<size_t>(
      std::ranges::count_if(conversation, [](const Entry& entry) { return entry.role == Entry::Role::user; }));
  out.key("messages").array();
  for (const Entry& entry : conversation) {
    const bool is_user = entry.role == Entry::Role::user;
    const bool marked = is_user && users-- <= marked_messages;
    if (std::ranges::none_of(entry.blocks, can_send)) continue;
    out.object().field("role", is_user ? "user" : "assistant").key("content").array();
    for (const Block& block : entry.blocks)
      if (can_send(block)) write_block(out, block, marked && &block == &entry.blocks.back());
    out.end().end();
  }
  out.end();
}

// Models up to 4.5 are told how many tokens they may think; later ones decide, and are told how much they should care.
bool wants_budget(std::string_view model) {
  if (model.contains("claude-3")) return true;
  for (const std::string_view old : {"-4-0", "-4-1", "-4-5", "-4.1", "-4.5", "-4-2025", "sonnet-4@", "opus-4@"})
    if (model.contains(old)) return true;
  return model.ends_with("-4");
}

void write_effort(JsonOut& out, const Request& request, int64_t max_tokens) {
  if (request.effort.empty()) return;
  if (request.effort == "none") {
    out.key("thinking").object().field("type", "disabled").end();
    return;
  }
  if (!wants_budget(request.model)) {
    out.key("thinking").object().field("type", "adaptive").field("display", "summarized").end();
    out.key("output_config").object().field("effort", request.effort == "minimal" ? "low" : request.effort).end();
    return;
  }
  const bool little = request.effort == "minimal" || request.effort == "low";
  const int64_t wanted = little ? 2048 : request.effort == "medium" ? 8192 : request.effort == "high" ? 16384 : 31999;
  const int64_t budget = std::min(wanted, max_tokens / 2);
  if (budget < thinking_budget_min) return;
  out.key("thinking").object().field("type", "enabled").field("budget_tokens", budget).end();
}

}  // namespace

std::string encode_anthropic(const Request& request, const std::vector<Entry>& conversation) {
  const ModelInfo info = request.info.value_or(model_info(request.model));
  const int64_t max_tokens = request.max_output_tokens > 0 ? request.max_output_tokens : info.output_tokens;
  std::string body;
  JsonOut out(body);
  out.object().field("model", request.model).field("max_tokens", max_tokens).field("stream", true);
  write_effort(out, request, max_tokens);
  write_tools(out, request);
  if (!request.system.empty()) {
    out.key("system").array().object().field("type", "text").field("text", request.system);
    mark(out);
    out.end().end();
  }
  write_messages(out, conversation);
  out.end();
  return body;
}

}  // namespace errand::model
