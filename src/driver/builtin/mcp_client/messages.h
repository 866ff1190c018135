// The messages of MCP as a client has them: what it sends, and what may come back. Pure; what comes is hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::builtin::mcp {

inline constexpr std::string_view protocol_version = "2025-11-25";
inline constexpr size_t message_bytes_max = 8 << 20;
inline constexpr size_t tools_max = 200;              // Of one server.
inline constexpr size_t description_max = 4'000;      // Characters; a longer one is cut.
inline constexpr size_t schema_bytes_max = 64 << 10;  // A tool with a larger one is left out.

// --- out. Whole messages, one line each.
std::string initialize_message(int64_t id, std::string_view client_version);
std::string initialized_message();
std::string list_message(int64_t id, std::string_view cursor);
// `arguments` is a JSON object.
std::string call_message(int64_t id, std::string_view tool, std::string_view arguments);
std::string cancelled_message(int64_t id);

// --- in.
struct Received {
  enum class Kind : uint8_t { response, error, request, notification } kind = Kind::notification;
  int64_t id = 0;      // Of a response: ours.
  std::string answer;  // To a request: what to send back (an empty result to a ping, else a refusal).
  std::string body;    // Of a response: the result, as JSON. Of an error: its message, one line.
};
// invalid_argument where it is no message.
Result<Received> parse_received(std::string_view text);

// The result of `initialize`: the version that the server speaks; an error where it is none that we do.
Result<std::string> parse_initialized(std::string_view result);

struct ListedTool {
  std::string name;  // The server's.
  std::string description;
  std::string input_schema;  // A JSON object.
};
struct ToolPage {
  std::vector<ListedTool> tools;
  std::vector<std::string> left_out;  // Names of those that cannot be used.
  std::string next_cursor;
};
Result<ToolPage> parse_tools(std::string_view result);

struct CallResult {
  std::string text;  // Text as it came; of images, sounds and links a word. UTF-8, not bounded.
  bool is_error = false;
};
Result<CallResult> parse_call(std::string_view result);

}  // namespace errand::builtin::mcp
