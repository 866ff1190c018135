// What MCP's methods do, in either era and whichever way the messages come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "mcp/rpc.h"

namespace errand::mcp {

class Protocol {
 public:
  explicit Protocol(ProtocolParts parts) : parts_(std::move(parts)) {}

  // Answers a request with a whole message, once, on the engine's thread, perhaps inside the call.
  void request(Incoming message, Peer peer, std::shared_ptr<tools::Cancellation> cancellation, Answering answer);
  // A notification: `notifications/cancelled` gives up the wait of a request, never the task.
  void notification(const Incoming& message, const Peer& peer);

  // May its answer be long in coming? Then it is worth telling how far it is.
  static bool may_wait(const Incoming& message);

  const ProtocolParts& parts() const { return parts_; }
  size_t calls_under_way() const { return calls_.size(); }

  // Told with a session whose list of tasks has changed by a call.
  std::function<void(const SessionId&)> on_change;

 private:
  void call_tool(const RpcPtr& rpc);
  void run_tool(const RpcPtr& rpc, bool ask_person);
  void answer_call(const RpcPtr& rpc, const tools::ToolResult& result);
  // The notices that the session has not taken go into the answer to its next call (R5.5), and are taken by it.
  void with_notices(const Peer& peer, std::function<void(std::vector<Notice>)> then);

  ProtocolParts parts_;
  std::unordered_map<std::string, std::weak_ptr<tools::Cancellation>> calls_;  // By connection and request id.
};

}  // namespace errand::mcp
