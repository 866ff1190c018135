// One connection to a server: TCP, TLS or a unix socket. Blocking for the caller, with a deadline on every wait, and
// ended by Ctrl-C (interrupt.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace errand::cli {

struct Endpoint {
  std::string unix_path;  // Where set, host and port are not used.
  std::string host;
  int port = 0;
  bool tls = false;  // The certificate is checked against the system's authorities (or SSL_CERT_FILE) and the host.
};

class Connection {
 public:
  // `deadline` is steady time. Fails with `unavailable`.
  static Result<std::unique_ptr<Connection>> open(const Endpoint& endpoint, Time deadline);
  ~Connection();

  Status write(std::string_view bytes, Time deadline);

  enum class Read : uint8_t { some, eof, timeout, interrupted, woken };
  // Appends what is there, at least one byte for `some`. A broken connection is an eof. `woken`: nothing is there, and
  // `wake`, another file descriptor, became readable.
  Read read(std::string& out, Time deadline, int wake = -1);

 private:
  struct Tls;
  explicit Connection(int fd);
  Status handshake(const Endpoint& endpoint, Time deadline);

  int fd_;
  std::unique_ptr<Tls> tls_;
};

// Steady time now, for deadlines.
Time steady_now();
Time wall_now();

}  // namespace errand::cli
