// MCP over Streamable HTTP: POST, GET and DELETE on /mcp (protocol versions of 2025).
//
// `initialize` opens a session whose id is in the Mcp-Session-Id header of its answer; every further message names it.
// A session is stored, so that it goes on when the server is restarted. Its tasks are those of the session that the
// client names in Errand-Session-Id (or, for Codex, in _meta.threadId), else its own. Deleting it forgets the
// connection; what it launched goes on.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "base/executor.h"
#include "mcp/protocol.h"
#include "net/http.h"
#include "net/sse.h"
#include "store/store.h"

namespace errand::mcp {

struct HttpParts {
  Protocol& protocol;
  Engine& engine;
  Store& store;
  Executor& loop;
  Executor& readers;
  Random& random;
  net::Heartbeats& heartbeats;
};

// Loop thread only. The readers are stopped before it is destroyed.
class HttpEndpoint {
 public:
  explicit HttpEndpoint(HttpParts parts) : parts_(std::move(parts)) {}
  void handle(net::ExchangePtr exchange);

 private:
  void post(const net::ExchangePtr& exchange);
  void initialize(const net::ExchangePtr& exchange, Incoming message);
  void get(const net::ExchangePtr& exchange);
  void forget(const net::ExchangePtr& exchange);
  // Calls `then` where the request names a session that is there; else answers it.
  void with_session(const net::ExchangePtr& exchange, std::move_only_function<void(SessionId)> then);

  HttpParts parts_;
  std::unordered_set<std::string> known_;  // Sessions that are stored; a bounded cache.
  std::unordered_set<std::string> ended_;  // Deleted by their clients.
};

}  // namespace errand::mcp
