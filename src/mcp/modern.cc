#include "mcp/modern.h"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";

RpcError mismatch(std::string_view header, std::string_view why) {
  return {code::header_mismatch, "The header " + std::string(header) + " " + std::string(why) + ".", {}};
}

RpcError unsupported(std::string_view requested) {
  std::string data;
  JsonOut(data)
      .object()
      .key("supported")
      .array()
      .value(modern_version)
      .end()
      .field("requested", to_utf8(requested.substr(0, 100)))
      .end();
  return {code::unsupported_version, "This protocol version is not supported here.", std::move(data)};
}

// The parameter that Mcp-Name repeats; empty: that method has none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return {};
}

std::optional<RpcError> check_name(const Incoming& message, const net::Request& request) {
  const std::string_view param = named_by(message.method);
  if (param.empty()) return std::nullopt;
  const json::value* value = message.param(param);
  // What is not there, or is no text, is the method's to refuse.
  if (!value || !value->is_string()) return std::nullopt;
  if (request.count_header("mcp-name") != 1) return mismatch("Mcp-Name", "is missing");
  const std::optional<std::string> given = decode_header(trim(request.header("mcp-name")));
  if (!given) return mismatch("Mcp-Name", "is not well formed");
  if (*given != std::string_view(value->as_string())) return mismatch("Mcp-Name", "differs from the body");
  return std::nullopt;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 255);
    }
  }
  if (count >= 6) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::string> decode_header(std::string_view value) {
  constexpr std::string_view open = "=?base64?", close = "?=";
  if (value.starts_with(open) && value.ends_with(close) && value.size() >= open.size() + close.size())
    return from_base64(value.substr(open.size(), value.size() - open.size() - close.size()));
  const bool plain = std::ranges::all_of(value, [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
  return plain ? std::optional(std::string(value)) : std::nullopt;
}

Era era_of(const Incoming& message, std::string_view version_header) {
  if (message.meta(version_key)) return Era::modern;
  return version_header.empty() || is_version(version_header) ? Era::legacy : Era::modern;
}

std::optional<RpcError> check_modern(const Incoming& message, const net::Request& request) {
  const std::string_view header = trim(request.header("mcp-protocol-version"));
  const json::value* version = message.meta(version_key);
  if (!version || !version->is_string()) {
    if (!header.empty() && header != modern_version) return unsupported(header);
    return RpcError{code::invalid_params, "`_meta` must name io.modelcontextprotocol/protocolVersion.", {}};
  }
  const std::string_view claimed = version->as_string();
  if (request.count_header("mcp-protocol-version") != 1) return mismatch("MCP-Protocol-Version", "is missing");
  if (header != claimed) return mismatch("MCP-Protocol-Version", "differs from the body");
  if (claimed != modern_version) return unsupported(claimed);
  if (request.count_header("mcp-method") != 1) return mismatch("Mcp-Method", "is missing");
  if (trim(request.header("mcp-method")) != message.method) return mismatch("Mcp-Method", "differs from the body");
  if (auto wrong = check_name(message, request)) return wrong;
  const json::value* capabilities = message.meta(capabilities_key);
  if (message.kind == Incoming::Kind::request && (!capabilities || !capabilities->is_object()))
    return RpcError{code::invalid_params, "`_meta` must have io.modelcontextprotocol/clientCapabilities.", {}};
  return std::nullopt;
}

void read_capabilities(const Incoming& message, Peer& peer) {
  const json::value* value = message.meta(capabilities_key);
  if (!value || !value->is_object()) return;
  const json::object& capabilities = value->as_object();
  if (const json::value* asks = capabilities.if_contains("elicitation"); asks && asks->is_object())
    peer.elicits = peer.rights.approve && (asks->as_object().empty() || asks->as_object().contains("form"));
  if (const json::value* extensions = capabilities.if_contains("extensions"); extensions && extensions->is_object())
    peer.takes_tasks = extensions->as_object().contains(tasks_extension);
}

}  // namespace errand::mcp
