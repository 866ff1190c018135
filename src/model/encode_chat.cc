// OpenAI Chat Completions, and the servers that speak it: POST /v1/chat/completions.
#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "model/encode.h"
#include "model/encode_api.h"
#include "model/place.h"

namespace errand::model {
namespace {

std::string text_of(const Entry& entry) {
  std::string out;
  for (const Block& block : entry.blocks) {
    if (block.type != Block::Type::text) continue;
    if (!out.empty()) out += '\n';
    out += block.text;
  }
  return out;
}

bool has(const Entry& entry, Block::Type type) {
  return std::ranges::any_of(entry.blocks, [&](const Block& block) { return block.type == type; });
}

void write_user(JsonOut& out, const Entry& entry) {
  for (const Block& block : entry.blocks)
    if (block.type == Block::Type::tool_result)
      out.object().field("role", "tool").field("tool_call_id", block.call_id).field("content", block.text).end();
  if (!has(entry, Block::Type::text) && !has(entry, Block::Type::image)) return;
  out.object().field("role", "user").key("content");
  if (!has(entry, Block::Type::image)) {
    // A plain string where it does: not every server takes a list.
    out.value(text_of(entry)).end();
    return;
  }
  out.array();
  for (const Block& block : entry.blocks) {
    if (block.type == Block::Type::text) out.object().field("type", "text").field("text", block.text).end();
    if (block.type != Block::Type::image) continue;
    out.object().field("type", "image_url").key("image_url").object();
    out.field("url", "data:" + block.media_type + ";base64," + block.data).end().end();
  }
  out.end().end();
}

// Within the work on one prompt, models that reason want their own thoughts back; of earlier turns they do not.
void write_reasoning(JsonOut& out, const Entry& entry) {
  std::string field, text;
  boost::json::array details;
  for (const Block& block : entry.blocks) {
    if (block.type != Block::Type::reasoning) continue;
    const std::string_view opaque = opaque_of(Api::openai_chat, block);
    boost::system::error_code error;
    const boost::json::value own = boost::json::parse({opaque.data(), opaque.size()}, error);
    const boost::json::object* object = own.if_object();
    if (error || !object) continue;
    if (const auto* name = object->if_contains("field"); name && name->is_string())
      field = std::string(name->get_string());
    if (const auto* list = object->if_contains("reasoning_details"); list && list->is_array())
      details.insert(details.end(), list->get_array().begin(), list->get_array().end());
    text += block.text;
  }
  if (!details.empty())
    out.key("reasoning_details").raw(boost::json::serialize(details));
  else if (!field.empty())
    out.field(field, text);
}

void write_assistant(JsonOut& out, const Entry& entry, bool current) {
  const bool calls = has(entry, Block::Type::tool_call);
  const std::string text = text_of(entry);
  if (!calls && text.empty()) return;
  out.object().field("role", "assistant").key("content");
  if (text.empty())
    out.null();
  else
    out.value(text);
  if (current) write_reasoning(out, entry);
  if (calls) {
    out.key("tool_calls").array();
    for (const Block& block : entry.blocks) {
      if (block.type != Block::Type::tool_call) continue;
      out.object().field("id", block.call_id).field("type", "function").key("function").object();
      out.field("name", block.name).field("arguments", valid_input(block.input)).end().end();
    }
    out.end();
  }
  out.end();
}

}  // namespace

std::string encode_chat(const Endpoint& endpoint, const Request& request, const std::vector<Entry>& conversation) {
  const bool openai = is_openai(endpoint);
  std::string body;
  JsonOut out(body);
  out.object().field("model", request.model).field("stream", true);
  out.key("stream_options").object().field("include_usage", true).end();
  if (request.max_output_tokens > 0)
    out.field(openai ? "max_completion_tokens" : "max_tokens", request.max_output_tokens);
  if (!request.effort.empty() && (!openai || reasons(request.model))) out.field("reasoning_effort", request.effort);
  if (openai && !request.cache_key.empty()) out.field("prompt_cache_key", request.cache_key);
  if (is_openrouter(endpoint)) out.key("usage").object().field("include", true).end();  // With what it costs.
  if (!request.tools.empty()) {
    out.key("tools").array();
    for (const ToolSpec& tool : request.tools) {
      out.object().field("type", "function").key("function").object();
      out.field("name", tool.name).field("description", tool.description);
      out.key("parameters").raw(valid_schema(tool.input_schema)).end().end();
    }
    out.end();
  }
  // Where the work on the last prompt begins: what is said beside results is said while it works.
  size_t current = 0;
  for (size_t i = 0; i < conversation.size(); ++i)
    if (conversation[i].role == Entry::Role::user && !has(conversation[i], Block::Type::tool_result)) current = i;
  out.key("messages").array();
  if (!request.system.empty()) out.object().field("role", "system").field("content", request.system).end();
  for (size_t i = 0; i < conversation.size(); ++i) {
    if (conversation[i].role == Entry::Role::user)
      write_user(out, conversation[i]);
    else
      write_assistant(out, conversation[i], i > current);
  }
  out.end().end();
  return body;
}

}  // namespace errand::model
