// How messages go to an MCP server and come back: a process under the supervisor, or HTTP.
//
// Threads: the engine's only, in both directions. Nothing is called inside a call, and nothing after destruction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"
#include "http/client.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::builtin::mcp {

class Transport {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void received(std::string_view message) = 0;
    // The request of this id will not be answered; others may.
    virtual void lost(int64_t id, std::string why) = 0;
    // Nothing is answered any more. Once, last.
    virtual void ended(std::string why) = 0;
  };

  // What still runs is ended, without waiting for it, unless it was left.
  virtual ~Transport() = default;
  virtual void start(Listener& listener) = 0;
  // `id` is 0 for a notification and for an answer.
  virtual void send(std::string message, int64_t id) = 0;
  // The version that was agreed on: HTTP says it with each request.
  virtual void agreed(std::string /*version*/) {}
  // We go and it stays, with the call that it is at. It is destroyed next.
  virtual void leave() {}
  // Ends it. Answers once, later, when nothing of it is left; the listener hears nothing more.
  virtual void close(std::move_only_function<void()> gone) = 0;
};

struct StdioParts {
  process::SupervisorClient& supervisor;
  Executor& background;  // For preparing, and for reading the journal.
  Executor& engine;
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;
};
// A program whose standard input and output carry a message a line. `request` is complete but for the mode, the input
// and its words: those `prepare` gives, which looks at folders (of a sandbox) and so runs in the background. It owns
// all that it uses.
using PrepareStdio = std::function<Result<std::vector<std::string>>()>;
std::unique_ptr<Transport> make_stdio_transport(StdioParts parts, process::SpawnRequest request, PrepareStdio prepare);

// Streamable HTTP (2025): a POST a message; the answer is JSON or a stream of events.
std::unique_ptr<Transport> make_http_transport(http::Client& client, Executor& engine, std::string url,
                                               http::Headers headers, Millis timeout_ms);

}  // namespace errand::builtin::mcp
