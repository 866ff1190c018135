// Who speaks, and by which rules.
//
// Two eras of the protocol are served side by side. Legacy (2025-03-26 to 2025-11-25): a session that begins with
// `initialize`. Modern (2026-07-28): no session, every request says in its _meta what it needs to be understood.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.h"
#include "tools/rights.h"

namespace errand::mcp {

enum class Era : uint8_t { legacy, modern };

// Newest first.
inline constexpr std::string_view versions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};
inline constexpr std::string_view modern_version = "2026-07-28";
bool is_version(std::string_view version);  // A legacy one.
// Ours for what a client's `initialize` asks for: the same where we speak it, else our newest.
std::string_view negotiate(std::string_view requested);

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

struct Peer {
  Era era = Era::legacy;
  std::string connection;     // Tells one client's request ids from another's.
  SessionId session;          // Whose tasks it sees; also what its notices are kept for.
  std::string key;            // The idempotency key of a request that may come again.
  std::string who = "owner";  // Whose credentials; handles that are given out hold for them alone.
  tools::Rights rights = {};  // By the scopes of its token.
  std::string work_dir = {};  // Where it is, where it says so; absolute.
  bool forks = false;         // Its session may be a conversation that can be copied.
  bool elicits = false;       // It can ask a person, by a form.
  bool takes_tasks = false;   // It said that it understands the tasks extension (modern).
};

}  // namespace errand::mcp
