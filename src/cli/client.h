// The CLI's HTTP client: one request at a time, and streams that outlive the server's restarts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/sse.h"
#include "base/time.h"
#include "cli/find_server.h"

namespace errand::cli {

struct Reply {
  int status = 0;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.

  // The first of that name; empty where there is none.
  std::string_view header(std::string_view name) const;
};

// What a reader of a stream does. Each answers whether to go on; false ends the stream.
struct StreamCalls {
  // Each event, in order, once.
  std::function<bool(const SseEvent&)> event;
  // After every connect, before its first event: what was read before may be stale by now. Optional.
  std::function<Result<bool>()> connected;
  // About every `tick_ms` and after events, for a progress line. Optional.
  std::function<bool()> tick;
  Millis tick_ms = 100;
  // Readable: tick is called at once, which reads it empty. Optional.
  int wake_fd = -1;
  // The connection was lost (true) or is back (false). Optional.
  std::function<void(bool)> lost;
  Time deadline;  // Steady; never by default.
};

enum class StreamEnd : uint8_t {
  ended,        // The server said `end` and closed.
  nothing,      // 204: there is nothing after the given id and never will be.
  stopped,      // By the reader.
  deadline,     // Time is up.
  interrupted,  // Ctrl-C.
};

class Client {
 public:
  explicit Client(Where where) : where_(std::move(where)) {}
  ~Client();

  // Sends a request to the server, which is found, or started, at the first one. Any status is a reply; only a server
  // that cannot be reached is an error. A request with `idempotency_key` is repeated where the connection broke.
  Result<Reply> request(std::string_view method, const std::string& path, std::string_view body = {},
                        std::string_view idempotency_key = {});
  // The same, but a status of 400 or more is an error, made from its problem details.
  Result<std::string> call(std::string_view method, const std::string& path, std::string_view body = {},
                           std::string_view idempotency_key = {});
  Result<std::string> get(const std::string& path) { return call("GET", path); }
  Result<std::string> post(const std::string& path, std::string_view body = "{}") { return call("POST", path, body); }

  // Server-sent events from `path`, after event `last_id` (empty: from the beginning, or from now, as the path has it).
  // Where the connection breaks it goes on from the last event, also across a restart of the server: it is looked for,
  // not started, for a minute.
  Result<StreamEnd> stream(const std::string& path, std::string last_id, const StreamCalls& calls);

  // The server in use; finds it where no request did.
  Result<Target> target();
  void set_start(Start start) { start_ = start; }
  // Sent with every request.
  void set_headers(std::vector<std::pair<std::string, std::string>> headers) { headers_ = std::move(headers); }
  // How long an answer is waited for; a minute unless a call is known to wait longer.
  void set_patience(Millis patience) { reply_ms_ = patience; }

 private:
  Result<Reply> exchange(const std::string& request, bool repeatable);
  std::string head(std::string_view method, const std::string& path) const;

  Where where_;
  Start start_ = Start::if_none;
  std::vector<std::pair<std::string, std::string>> headers_;
  Millis reply_ms_ = 60'000;
  std::optional<Target> target_;
  std::unique_ptr<Connection> idle_;  // Kept alive between requests.
  Time idle_since_;
};

// Percent-encoded, for paths and queries.
std::string url_encode(std::string_view text);

// Builds "?a=b&c=d"; empty values are left out.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace errand::cli
