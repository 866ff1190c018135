#include "mcp/jsonrpc.h"

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr size_t method_max = 200;
constexpr size_t id_max = 200;

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

const json::object& Incoming::params() const {
  static const json::object none;
  const json::value* params = document->value().as_object().if_contains("params");
  return params && params->is_object() ? params->as_object() : none;
}

const json::value* Incoming::param(std::string_view name) const { return params().if_contains(name); }

const json::value* Incoming::meta(std::string_view name) const {
  const json::value* meta = param("_meta");
  return meta && meta->is_object() ? meta->as_object().if_contains(name) : nullptr;
}

std::string Incoming::text(std::string_view name) const { return text_in(params(), name); }

std::string Incoming::text(std::string_view object, std::string_view name) const {
  const json::value* inner = params().if_contains(object);
  return inner && inner->is_object() ? text_in(inner->as_object(), name) : std::string();
}

Result<Incoming> parse_message(std::string_view text, RpcError& error, std::string& id) {
  const auto refuse = [&](int code, std::string message) {
    error = {code, message, {}};
    return fail(Code::invalid_argument, std::move(message));
  };
  Result<api::Document> document = api::Document::parse(text);
  if (!document) {
    const bool syntax = document.error().reason == "bad_json";
    return refuse(syntax ? code::parse_error : code::invalid_request, document.error().message);
  }
  const json::object* object = document->value().if_object();
  if (!object)
    return refuse(code::invalid_request, "A message is one JSON object; batches are not part of this protocol.");
  Incoming message;
  const json::value* given = object->if_contains("id");
  if (given) {
    if (!given->is_string() && !given->is_int64() && !given->is_uint64())
      return refuse(code::invalid_request, "`id` must be a text or a whole number.");
    message.id = json::serialize(*given);
    if (message.id.size() > id_max) return refuse(code::invalid_request, "`id` is too long.");
    id = message.id;
  }
  if (text_in(*object, "jsonrpc") != "2.0") return refuse(code::invalid_request, "`jsonrpc` must be \"2.0\".");
  message.method = text_in(*object, "method");
  if (message.method.empty()) {
    if (!given || (!object->contains("result") && !object->contains("error")))
      return refuse(code::invalid_request, "A message has a `method`, or is the response to a request.");
    message.kind = Incoming::Kind::response;
  } else {
    message.kind = given ? Incoming::Kind::request : Incoming::Kind::notification;
  }
  if (message.method.size() > method_max) return refuse(code::invalid_request, "`method` is too long.");
  if (const json::value* params = object->if_contains("params"); params && !params->is_object())
    return refuse(code::invalid_params, "`params` must be an object.");
  message.document = std::make_shared<const api::Document>(std::move(*document));
  return message;
}

std::string result_message(std::string_view id, std::string_view result) {
  std::string text;
  JsonOut(text).object().field("jsonrpc", "2.0").key("id").raw(id).key("result").raw(result).end();
  return text;
}

std::string error_message(std::string_view id, const RpcError& error) {
  std::string text;
  JsonOut out(text);
  out.object().field("jsonrpc", "2.0").key("id").raw(id.empty() ? "null" : id).key("error").object();
  out.field("code", error.code).field("message", error.message);
  if (!error.data.empty()) out.key("data").raw(error.data);
  out.end().end();
  return text;
}

std::string notification_message(std::string_view method, std::string_view params) {
  std::string text;
  JsonOut(text).object().field("jsonrpc", "2.0").field("method", method).key("params").raw(params).end();
  return text;
}

}  // namespace errand::mcp
