// What MCP's methods do, whichever way the messages come: initialize, ping, tools/list, tools/call, and the
// notifications of a client. The versions of 2025: a session that begins with `initialize`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/engine.h"
#include "mcp/jsonrpc.h"
#include "tools/toolbox.h"

namespace errand::mcp {

// Newest first.
inline constexpr std::string_view versions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};
bool is_version(std::string_view version);
// Ours for what a client asks for: the same where we speak it, else our newest.
std::string_view negotiate(std::string_view requested);

struct ProtocolParts {
  tools::Toolbox& tools;
  Engine& engine;
  std::string version;  // Errand's.
};

// Who speaks.
struct Peer {
  std::string connection;  // The MCP session; tells one client's request ids from another's.
  SessionId session;       // Whose tasks it sees; also what its notices are kept for.
};

class Protocol {
 public:
  explicit Protocol(ProtocolParts parts) : parts_(std::move(parts)) {}

  // Answers a request with a whole message, once, on the engine's thread, perhaps inside the call.
  using Answer = std::move_only_function<void(std::string)>;
  void request(const Incoming& message, const Peer& peer, const std::shared_ptr<tools::Cancellation>& cancellation,
               Answer answer);
  // A notification: `notifications/cancelled` gives up the wait of a request, never the task.
  void notification(const Incoming& message, const Peer& peer);

  size_t calls_under_way() const { return calls_.size(); }

 private:
  void call_tool(const Incoming& message, const Peer& peer, const std::shared_ptr<tools::Cancellation>& cancellation,
                 Answer answer);
  // The notices that the session has not taken go into the answer to its next call (R5.5), and are taken by it.
  void with_notices(const Peer& peer, std::function<void(std::vector<Notice>)> then);

  ProtocolParts parts_;
  std::unordered_map<std::string, std::weak_ptr<tools::Cancellation>> calls_;  // By connection and request id.
};

}  // namespace errand::mcp
