// The HTTP/1.1 server: sockets, parsing, limits, keep-alive, streams. Knows nothing of tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/loop.h"

namespace errand::net {

struct ServerLimits {
  uint64_t body_bytes = 8u << 20;     // Past it: 413, from Content-Length before the body is read.
  uint64_t bodies_bytes = 16u << 20;  // All bodies being read at once, as they grow. Past it: 503.
  uint32_t header_bytes = 32u << 10;  // Past it: 431.
  uint32_t connections =
      10'000;  // Past it: 503 and close. Never more than the process's descriptors allow, less a reserve.
  Millis header_ms = 10'000;  // From accept, or from the first byte of a further request, to its whole head.
  Millis idle_ms = 75'000;    // Keep-alive without a request.
  uint32_t body_floor_bytes_per_s = 1024;  // A slower body is given up after header_ms.
  Millis write_stall_ms = 30'000;          // A reader that takes nothing for this long is dropped.
  Millis drain_ms = 2'000;                 // How long a closing connection is read for the peer to see our last reply.
  size_t stream_chunk = 64 << 10;          // What a stream connection has under way at most.
};

struct ServerStats {
  int64_t connections = 0;
  int64_t streams = 0;
  int64_t requests = 0;  // Since start.
};

// Who vouches for a listener that is not on loopback (R12.1).
enum class Exposure : uint8_t {
  loopback_only,  // Any other address is refused.
  behind_proxy,   // A proxy in front does TLS.
};

struct TlsFiles {
  std::string certificate;  // PEM, with its chain.
  std::string key;          // PEM.
};

class Server {
 public:
  virtual ~Server() = default;
  // Takes the address: from here on nobody else has it, and whoever connects waits in the system's queue until
  // accept(). `address` is "127.0.0.1", "::1", "localhost", ...; port 0 takes a free one. Returns the port. May be
  // called more than once.
  virtual Result<int> listen(const std::string& address, int port, Exposure exposure = Exposure::loopback_only) = 0;
  // The same with TLS (1.2 or newer), on any address.
  virtual Result<int> listen_tls(const std::string& address, int port, const TlsFiles& files) = 0;
  // A unix socket of mode 600 whose peers must have our uid (SO_PEERCRED). A file of an earlier server is replaced.
  virtual Status listen_unix(const std::string& path) = 0;
  // Answers those who wait, and all who come, also at addresses that are taken later. Loop thread, or before it runs.
  virtual void accept() = 0;
  // Accepts no more; `farewell` is written to each open stream before it ends; requests under way are still answered.
  // `done` is called once the last connection is closed.
  virtual void stop(std::string farewell, std::function<void()> done = {}) = 0;
  virtual ServerStats stats() const = 0;
  // Credentials have ended: closes every connection that streams to, or owes an answer to, somebody whose credentials
  // (Request::still_good) do not hold any more.
  virtual void end_stale() = 0;
};

// `loop` outlives the server. Loop thread only, and before it runs.
std::unique_ptr<Server> make_server(Loop& loop, ServerLimits limits, HeadCheck check, Handler handler);

// 127.0.0.0/8, ::1 and "localhost".
bool is_loopback(std::string_view address);

}  // namespace errand::net
