// MCP over Streamable HTTP: POST, GET and DELETE on /mcp, both eras.
//
// Legacy (2025-03-26 to 2025-11-25): `initialize` opens a session whose id is in the Mcp-Session-Id header of its
// answer; every further message names it. A session is stored, so that it goes on when the server is restarted.
// Deleting it forgets the connection; what it launched goes on.
//
// Modern (2026-07-28): every POST stands for itself; what it must say is checked by modern.h.
//
// Whose tasks: of the session that the request names (the header Errand-Session-Id, _meta["errand/session"], ?session=,
// or Codex's _meta.threadId), else of the MCP session; in the modern era, which has none, of the client's name.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/executor.h"
#include "mcp/protocol.h"
#include "mcp/stream.h"
#include "net/http.h"
#include "net/sse.h"
#include "store/store.h"

namespace errand::mcp {

struct HttpParts {
  Protocol& protocol;
  Random& random;
  net::Heartbeats& heartbeats;
};

// Loop thread only. The readers are stopped before it is destroyed.
class HttpEndpoint {
 public:
  explicit HttpEndpoint(HttpParts parts);
  void handle(net::ExchangePtr exchange);

 private:
  void post(const net::ExchangePtr& exchange);
  void post_modern(const net::ExchangePtr& exchange, Incoming message);
  void post_legacy(const net::ExchangePtr& exchange, Incoming message);
  void initialize(const net::ExchangePtr& exchange, Incoming message);
  void get(const net::ExchangePtr& exchange);
  void forget(const net::ExchangePtr& exchange);
  // Answers a request of either era.
  void serve(const net::ExchangePtr& exchange, Incoming message, Peer peer);
  void subscribe(const net::ExchangePtr& exchange, const Incoming& message, const Peer& peer);
  void listen(const net::ExchangePtr& exchange, Incoming message, Peer peer);
  // Calls `then` where the request names a session that is there; else answers it.
  void with_session(const net::ExchangePtr& exchange, std::move_only_function<void(SessionId)> then);
  std::shared_ptr<Subjects> subjects_of(const std::string& connection);
  void list_changed(const SessionId& session);
  NoticeStreamParts stream_parts() const;

  HttpParts parts_;
  const ProtocolParts& with_;
  uint64_t last_request_ = 0;
  std::unordered_set<std::string> known_;                                // Sessions that are stored; a bounded cache.
  std::unordered_set<std::string> ended_;                                // Deleted by their clients.
  std::unordered_map<std::string, std::shared_ptr<Subjects>> subjects_;  // By legacy session.
  // Of streams that are open, by the session whose tasks they are about.
  std::unordered_multimap<std::string, std::weak_ptr<Subjects>> listening_;
};

}  // namespace errand::mcp
