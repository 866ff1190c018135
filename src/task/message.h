// Messages of a session: the conversation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace errand {

enum class Role : uint8_t { user, assistant, system };
std::string_view name(Role role);
std::optional<Role> parse_role(std::string_view text);

enum class PartType : uint8_t { text, reasoning, tool_call, tool_result, file, notice };
std::string_view name(PartType type);
std::optional<PartType> parse_part_type(std::string_view text);

// One part; which fields count depends on the type.
struct Part {
  PartType type = PartType::text;
  std::string text;        // text, reasoning, notice; tool_result: the output.
  std::string call_id;     // tool_call, tool_result.
  std::string name;        // tool_call: the tool's; file: the file's.
  std::string input;       // tool_call: JSON.
  bool is_error = false;   // tool_result.
  bool truncated = false;  // tool_result: `text` is not the whole output.
  int64_t size = 0;        // tool_result, file: the whole size in bytes.
  int64_t ms = 0;          // tool_result: how long it took.
  std::string media_type;  // file.
  std::string url;         // file: where it is (a data: or file: URL as given).
  std::string opaque;      // The driver's own data of this part (a provider's signature): stored, never on the wire.
  bool operator==(const Part&) const = default;
};

struct Message {
  MessageId id;
  SessionId session_id;
  int64_t seq = 0;  // In its session, from 1, without gaps.
  Role role = Role::user;
  int turn = 1;
  Time created_at;
  // Assistant: when its parts became immutable. User: when the agent took it; until then it is shown as pending.
  Time completed_at;
  bool interrupted = false;  // Assistant: cut by a cancel, a failure or a crash; the parts are what there was.
  std::vector<Part> parts;
  bool operator==(const Message&) const = default;
};

// A conversation. A task works in its own; a parent may be foreign (an OpenCode session, an MCP client's, a REST
// caller's): then errand keeps its id and its notices only.
struct Session {
  SessionId id;
  TaskId task_id;      // The task that works in it; empty for a parent that is not a task.
  std::string origin;  // "task", "rest", and later "opencode", "mcp", ...
  std::string title;
  Time created_at;
  int64_t last_message = 0;  // The seq of its last message.
  int64_t last_notice = 0;   // The seq of its last notice.
  bool operator==(const Session&) const = default;
};

// The text of all text parts, joined by blank lines.
std::string text_of(const Message& message);

}  // namespace errand
