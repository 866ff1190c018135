// The HTTP/1.1 server: sockets, parsing, limits, keep-alive, streams. Knows nothing of tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

namespace errand::net {

// The loop: the one I/O thread. Engine, HTTP and the supervisor's client live on it.
class Loop : public Executor {
 public:
  static std::unique_ptr<Loop> make();
  // Runs until stop().
  virtual void run() = 0;
  virtual void stop() = 0;
  // Calls `work` once at about `at` (steady, SystemClock's); a later call replaces it. For Engine::tick.
  virtual void set_timer(Time at, std::function<void()> work) = 0;
  // Calls `work` on the loop for each of these signals.
  virtual void on_signal(std::vector<int> signals, std::function<void(int)> work) = 0;
  virtual void* context() = 0;  // boost::asio::io_context*, for server.cc.
};

struct ServerLimits {
  uint64_t body_bytes = 8u << 20;     // Past it: 413, from Content-Length before the body is read.
  uint32_t header_bytes = 32u << 10;  // Past it: 431.
  uint32_t connections = 10'000;      // Past it: 503 and close.
  Millis header_ms =
      10'000;  // From accept, or from the end of the last reply's first byte of the next request, to a whole head.
  Millis idle_ms = 75'000;  // Keep-alive without a request.
  uint32_t body_floor_bytes_per_s = 1024;
  Millis write_stall_ms = 30'000;  // A reader that takes nothing for this long is dropped.
  size_t stream_chunk = 64 << 10;  // What a stream connection has under way at most.
};

struct ServerStats {
  int64_t connections = 0;
  int64_t streams = 0;
  int64_t requests = 0;  // Since start.
};

class Server {
 public:
  virtual ~Server() = default;
  // `address` is "127.0.0.1", "::1", ...; port 0 takes a free one. Returns the port. May be called more than once.
  virtual Result<int> listen(const std::string& address, int port) = 0;
  // A unix socket of mode 600 whose peers must have our uid (SO_PEERCRED).
  virtual Status listen_unix(const std::string& path) = 0;
  // Accepts no more; ends streams by their sources' choice: `farewell` is written to each open stream before it closes.
  virtual void stop(std::string farewell) = 0;
  virtual ServerStats stats() const = 0;
};

std::unique_ptr<Server> make_server(Loop& loop, ServerLimits limits, HeadCheck check, Handler handler);

}  // namespace errand::net
