#include "driver/builtin/mcp_client/messages.h"

#include <algorithm>
#include <array>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/fields.h"
#include "base/json_out.h"
#include "base/text.h"

namespace errand::builtin::mcp {
namespace {

namespace json = boost::json;

constexpr std::array spoken = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr size_t name_max = 128;
constexpr size_t error_characters = 1'000;

std::unexpected<Error> wrong(const char* why) { return fail(Code::invalid_argument, why, "mcp"); }

std::string request(int64_t id, std::string_view method, std::string_view params) {
  std::string text;
  JsonOut(text)
      .object()
      .field("jsonrpc", "2.0")
      .field("id", id)
      .field("method", method)
      .key("params")
      .raw(params)
      .end();
  return text;
}

std::string notification(std::string_view method, std::string_view params) {
  std::string text;
  JsonOut out(text);
  out.object().field("jsonrpc", "2.0").field("method", method);
  if (!params.empty()) out.key("params").raw(params);
  out.end();
  return text;
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() ? to_utf8(std::string_view(value->get_string())) : std::string();
}

const json::array* array_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value ? value->if_array() : nullptr;
}

// The object that a text is; an error where it is none.
Result<Document> parse_object(std::string_view text) {
  Result<Document> document = Document::parse(text);
  if (!document) return document;
  if (!document->value().is_object()) return wrong("It is not a JSON object.");
  return document;
}

// To a request of the server: we offer it nothing but a pulse.
std::string answer_to(const json::value& id, std::string_view method) {
  std::string text;
  JsonOut out(text);
  out.object().field("jsonrpc", "2.0").key("id").raw(json::serialize(id));
  if (method == "ping")
    out.key("result").object().end();
  else
    out.key("error").object().field("code", -32601).field("message", "This client does not offer that.").end();
  out.end();
  return text;
}

std::string part_text(const json::object& part) {
  const std::string type = text_in(part, "type");
  if (type == "text") return text_in(part, "text");
  if (type == "resource") {
    const json::value* inner = part.if_contains("resource");
    if (inner && inner->is_object())
      if (std::string text = text_in(inner->get_object(), "text"); !text.empty()) return text;
  }
  if (type == "resource_link") return fmt::format("[a link to {}]", one_line(text_in(part, "uri")));
  const std::string media = one_line(text_in(part, "mimeType"));
  return fmt::format("[{}{}{} is left out]", type.empty() ? "something" : one_line(type), media.empty() ? "" : " ",
                     media);
}

}  // namespace

std::string initialize_message(int64_t id, std::string_view client_version) {
  std::string params;
  JsonOut out(params);
  out.object().field("protocolVersion", protocol_version).key("capabilities").object().end();
  out.key("clientInfo").object().field("name", "errand").field("version", client_version).end().end();
  return request(id, "initialize", params);
}

std::string initialized_message() { return notification("notifications/initialized", {}); }

std::string list_message(int64_t id, std::string_view cursor) {
  std::string params;
  JsonOut out(params);
  out.object();
  if (!cursor.empty()) out.field("cursor", cursor);
  out.end();
  return request(id, "tools/list", params);
}

std::string call_message(int64_t id, std::string_view tool, std::string_view arguments) {
  std::string params;
  JsonOut(params).object().field("name", tool).key("arguments").raw(arguments.empty() ? "{}" : arguments).end();
  return request(id, "tools/call", params);
}

std::string cancelled_message(int64_t id) {
  std::string params;
  JsonOut(params).object().field("requestId", id).field("reason", "Nobody waits for it any more.").end();
  return notification("notifications/cancelled", params);
}

Result<Received> parse_received(std::string_view text) {
  if (text.size() > message_bytes_max) return wrong("The message is longer than 8 MiB.");
  const Result<Document> document = parse_object(text);
  if (!document) return std::unexpected(document.error());
  const json::object& object = document->value().get_object();
  const json::value* id = object.if_contains("id");
  Received received;
  if (const std::string method = text_in(object, "method"); !method.empty()) {
    if (!id) return received;
    if (!id->is_string() && !id->is_int64() && !id->is_uint64()) return wrong("Its id is not valid.");
    received.kind = Received::Kind::request;
    received.answer = answer_to(*id, method);
    return received;
  }
  if (!id || !id->is_int64()) return wrong("It answers no open request.");
  received.id = id->get_int64();
  if (const json::value* result = object.if_contains("result")) {
    received.kind = Received::Kind::response;
    received.body = json::serialize(*result);
    return received;
  }
  const json::value* error = object.if_contains("error");
  if (!error || !error->is_object()) return wrong("It has neither a result nor an error.");
  received.kind = Received::Kind::error;
  const std::string message = one_line(text_in(error->get_object(), "message"));
  received.body =
      message.empty() ? "an error without a message" : std::string(first_characters(message, error_characters));
  return received;
}

Result<std::string> parse_initialized(std::string_view result) {
  const Result<Document> document = parse_object(result);
  if (!document) return std::unexpected(document.error());
  std::string version = text_in(document->value().get_object(), "protocolVersion");
  if (std::ranges::find(spoken, version) == spoken.end())
    return fail(Code::unsupported, fmt::format("It speaks version \"{}\" of the protocol, which errand does not.",
                                               first_characters(one_line(version), 40)));
  return version;
}

Result<ToolPage> parse_tools(std::string_view result) {
  const Result<Document> document = parse_object(result);
  if (!document) return std::unexpected(document.error());
  const json::object& object = document->value().get_object();
  const json::array* list = array_in(object, "tools");
  if (!list) return wrong("Its list of tools is not a list.");
  ToolPage page;
  page.next_cursor = text_in(object, "nextCursor");
  if (page.next_cursor.size() > 4096) return wrong("Its cursor is too long.");
  for (const json::value& value : *list) {
    if (!value.is_object()) continue;
    const json::object& tool = value.get_object();
    ListedTool listed{.name = text_in(tool, "name"), .description = text_in(tool, "description"), .input_schema = {}};
    const json::value* schema = tool.if_contains("inputSchema");
    if (schema && schema->is_object()) listed.input_schema = json::serialize(*schema);
    if (listed.name.empty() || listed.name.size() > name_max || listed.input_schema.empty() ||
        listed.input_schema.size() > schema_bytes_max) {
      page.left_out.emplace_back(first_characters(one_line(listed.name), 80));
      continue;
    }
    listed.description = first_characters(listed.description, description_max);
    page.tools.push_back(std::move(listed));
  }
  return page;
}

Result<CallResult> parse_call(std::string_view result) {
  const Result<Document> document = parse_object(result);
  if (!document) return std::unexpected(document.error());
  const json::object& object = document->value().get_object();
  CallResult out;
  if (const json::value* flag = object.if_contains("isError")) out.is_error = flag->is_bool() && flag->get_bool();
  if (const json::array* parts = array_in(object, "content"))
    for (const json::value& part : *parts)
      if (part.is_object()) {
        if (!out.text.empty() && !out.text.ends_with('\n')) out.text += '\n';
        out.text += part_text(part.get_object());
      }
  if (const json::value* data = object.if_contains("structuredContent"); data && out.text.empty())
    out.text = json::serialize(*data);
  return out;
}

}  // namespace errand::builtin::mcp
