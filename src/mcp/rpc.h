// One request under way, whatever its method. Inside mcp/ only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/beside.h"
#include "base/time.h"
#include "engine/engine.h"
#include "mcp/jsonrpc.h"
#include "mcp/peer.h"
#include "store/store.h"
#include "tools/toolbox.h"

namespace errand::mcp {

// All outlive the protocol, and the readers are stopped before it is destroyed.
struct ProtocolParts {
  tools::Toolbox& tools;
  Engine& engine;
  Store& store;
  Executor& loop;
  Executor& readers;
  Clock& clock;
  std::string version;  // Errand's.
  std::string secret;   // What handles that are given out are sealed with; the same after a restart.
};

// A whole message, and the code where it is an error.
struct Answer {
  std::string text;
  int error = 0;
  bool stopping = false;  // The server is about to stop, and has done nothing: it can be asked again.
};
using Answering = std::move_only_function<void(Answer)>;

class Rpc {
 public:
  Rpc(const ProtocolParts& with, Incoming what, Peer by, std::shared_ptr<tools::Cancellation> until, Answering answer)
      : parts(with),
        message(std::move(what)),
        peer(std::move(by)),
        cancellation(std::move(until)),
        answer_(std::move(answer)) {}

  // Answers, once.
  void result(std::string_view json, bool stopping = false) {
    if (answer_) std::exchange(answer_, nullptr)({result_message(message.id, json), 0, stopping});
  }
  void refuse(const RpcError& error, bool stopping = false) {
    if (answer_) std::exchange(answer_, nullptr)({error_message(message.id, error), error.code, stopping});
  }
  void refuse(const Error& error) {
    const bool callers =
        error.code == Code::not_found || error.code == Code::invalid_argument || error.code == Code::conflict;
    refuse(RpcError{callers ? code::invalid_params : code::internal, error.message, {}}, error.reason == "stopping");
  }
  bool modern() const { return peer.era == Era::modern; }
  bool given_up() const { return cancellation && cancellation->cancelled(); }

  const ProtocolParts& parts;
  const Incoming message;
  const Peer peer;
  const std::shared_ptr<tools::Cancellation> cancellation;  // May be null.

 private:
  Answering answer_;
};
using RpcPtr = std::shared_ptr<Rpc>;

// Runs `read()` (a Result) on a reader, then `then(value)` on the loop; an error answers the request.
template <class Read, class Then>
void read_then(const RpcPtr& rpc, Read read, Then then) {
  run_then(rpc->parts.readers, rpc->parts.loop, std::move(read), [rpc, then = std::move(then)](auto result) mutable {
    if (!result) return rpc->refuse(result.error());
    then(std::move(*result));
  });
}

}  // namespace errand::mcp
