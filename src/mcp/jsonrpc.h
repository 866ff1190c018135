// JSON-RPC 2.0 as MCP uses it: one message at a time, no batches.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/fields.h"

namespace boost::json {
class object;
class value;
}  // namespace boost::json

namespace errand::mcp {

namespace code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal = -32603;
inline constexpr int unknown_resource_2025 = -32002;  // Of the versions of 2025; later it is invalid_params.
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
}  // namespace code

struct RpcError {
  int code = 0;
  std::string message;
  std::string data;  // JSON, or empty.
};

// A message that came in.
struct Incoming {
  enum class Kind : uint8_t { request, notification, response };
  Kind kind = Kind::request;
  std::string id;  // JSON: a text or a whole number. Empty for a notification.
  std::string method;
  std::shared_ptr<const api::Document> document;

  // `params`, empty where there are none.
  const boost::json::object& params() const;
  // A value in params, or in params._meta; null where there is none.
  const boost::json::value* param(std::string_view name) const;
  const boost::json::value* meta(std::string_view name) const;
  // A text in params, or in params.NAME; empty where it is none.
  std::string text(std::string_view name) const;
  std::string text(std::string_view object, std::string_view name) const;
};

// What is no message of the protocol: the error, and in `id` the message's own where it could be read.
Result<Incoming> parse_message(std::string_view text, RpcError& error, std::string& id);

// Whole messages. `id` is JSON; empty: null.
std::string result_message(std::string_view id, std::string_view result);
std::string error_message(std::string_view id, const RpcError& error);
std::string notification_message(std::string_view method, std::string_view params);

}  // namespace errand::mcp
