// OpenAI Responses: POST /v1/responses. Nothing is stored there: the conversation goes along each time, and reasoning
// comes and goes encrypted.
#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "model/encode.h"
#include "model/encode_api.h"
#include "model/place.h"

namespace errand::model {

namespace json = boost::json;

namespace {

json::object own_of(const Block& block) {
  const std::string_view opaque = opaque_of(Api::openai_responses, block);
  boost::system::error_code error;
  json::value own = json::parse({opaque.data(), opaque.size()}, error);
  return !error && own.is_object() ? own.get_object() : json::object{};
}

void write_user(JsonOut& out, const Entry& entry) {
  for (const Block& block : entry.blocks)
    if (block.type == Block::Type::tool_result)
      out.object()
          .field("type", "function_call_output")
          .field("call_id", block.call_id)
          .field("output", block.text)
          .end();
  const auto is_content = [](const Block& block) {
    return block.type == Block::Type::text || block.type == Block::Type::image;
  };
  if (std::ranges::none_of(entry.blocks, is_content)) return;
  out.object().field("type", "message").field("role", "user").key("content").array();
  for (const Block& block : entry.blocks) {
    if (block.type == Block::Type::text) out.object().field("type", "input_text").field("text", block.text).end();
    if (block.type == Block::Type::image)
      out.object()
          .field("type", "input_image")
          .field("image_url", "data:" + block.media_type + ";base64," + block.data)
          .end();
  }
  out.end().end();
}

// An item of reasoning belongs to the item behind it and is refused without it.
bool is_followed(const Entry& entry, size_t i) {
  for (++i; i < entry.blocks.size(); ++i)
    if (entry.blocks[i].type != Block::Type::reasoning) return true;
  return false;
}

void write_assistant(JsonOut& out, const Entry& entry) {
  for (size_t i = 0; i < entry.blocks.size(); ++i) {
    const Block& block = entry.blocks[i];
    const json::object own = own_of(block);
    const auto is_text = [&](const char* name) { return own.contains(name) && own.at(name).is_string(); };
    // No ids but the reasoning's own: an item that is named is refused where the reasoning before it is not sent along.
    if (block.type == Block::Type::reasoning) {
      if (is_text("encrypted_content") && is_followed(entry, i)) out.raw(json::serialize(own));
    } else if (block.type == Block::Type::tool_call) {
      out.object().field("type", "function_call").field("call_id", block.call_id).field("name", block.name);
      out.field("arguments", valid_input(block.input)).end();
    } else if (block.type == Block::Type::text) {
      out.object().field("type", "message").field("role", "assistant");
      if (is_text("phase")) out.field("phase", std::string_view(own.at("phase").get_string()));
      out.key("content").array().object().field("type", "output_text").field("text", block.text).end().end().end();
    }
  }
}

}  // namespace

std::string encode_responses(const Request& request, const std::vector<Entry>& conversation) {
  std::string body;
  JsonOut out(body);
  out.object().field("model", request.model).field("stream", true).field("store", false);
  if (!request.system.empty()) out.field("instructions", request.system);
  if (request.max_output_tokens > 0) out.field("max_output_tokens", request.max_output_tokens);
  if (!request.cache_key.empty()) out.field("prompt_cache_key", request.cache_key);
  if (reasons(request.model) || !request.effort.empty()) {
    out.key("include").array().value("reasoning.encrypted_content").end();
    if (!request.effort.empty())
      out.key("reasoning").object().field("effort", request.effort).field("summary", "auto").end();
  }
  if (!request.tools.empty()) {
    out.key("tools").array();
    for (const ToolSpec& tool : request.tools) {
      out.object().field("type", "function").field("name", tool.name).field("description", tool.description);
      out.key("parameters").raw(valid_schema(tool.input_schema)).field("strict", false).end();
    }
    out.end();
  }
  out.key("input").array();
  for (const Entry& entry : conversation) {
    if (entry.role == Entry::Role::user)
      write_user(out, entry);
    else
      write_assistant(out, entry);
  }
  out.end().end();
  return body;
}

}  // namespace errand::model
