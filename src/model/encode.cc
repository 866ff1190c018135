#include "model/encode.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "http/field.h"
#include "model/encode_api.h"
#include "model/place.h"

namespace errand::model {

namespace json = boost::json;

namespace {

constexpr size_t depth_max = 64;

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = depth_max;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

void set_header(http::Headers& headers, std::string_view name, std::string value) {
  std::erase_if(headers, [&](const auto& header) { return http::lower(header.first) == http::lower(name); });
  headers.emplace_back(name, std::move(value));
}

}  // namespace

std::string valid_input(std::string_view input) {
  if (input.empty()) return "{}";
  if (parse_object(input)) return std::string(input);
  std::string out;
  JsonOut(out).object().field("invalid_json", input).end();
  return out;
}

std::string valid_schema(std::string_view schema) {
  json::object object = parse_object(schema).value_or(json::object{});
  if (!object.contains("type")) object["type"] = "object";
  if (!object.contains("properties")) object["properties"] = json::object{};
  return json::serialize(object);
}

std::string make_opaque(Api api, std::string_view data) { return fmt::format("{}:{}", name(api), data); }

std::string_view opaque_of(Api api, const Block& block) {
  std::string_view opaque = block.opaque;
  const std::string_view prefix = name(api);
  if (!opaque.starts_with(prefix) || opaque.substr(prefix.size(), 1) != ":") return {};
  return opaque.substr(prefix.size() + 1);
}

http::Request encode(const Endpoint& endpoint, const Request& request) {
  http::Request out;
  out.method = "POST";
  out.headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}};
  const std::vector<Entry> conversation = normalize(request.conversation);
  switch (endpoint.api) {
    case Api::anthropic:
      out.url = api_url(endpoint, "messages");
      out.headers.emplace_back("anthropic-version", "2026-10-21");
      if (!endpoint.key.empty()) out.headers.emplace_back("x-api-key", endpoint.key);
      out.body = encode_anthropic(request, conversation);
      break;
    case Api::openai_chat:
      out.url = api_url(endpoint, "chat/completions");
      if (!endpoint.key.empty()) out.headers.emplace_back("authorization", "Bearer " + endpoint.key);
      out.body = encode_chat(endpoint, request, conversation);
      break;
    case Api::openai_responses:
      out.url = api_url(endpoint, "responses");
      if (!endpoint.key.empty()) out.headers.emplace_back("authorization", "Bearer " + endpoint.key);
      out.body = encode_responses(request, conversation);
      break;
  }
  for (const auto& [name, value] : endpoint.headers) set_header(out.headers, name, value);
  return out;
}

}  // namespace errand::model
