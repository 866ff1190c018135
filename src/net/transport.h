// Bytes over one connected socket, plain or TLS. Never blocks: a call that cannot go on says what it waits for. All of
// connection.cc is written against this, so TLS is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/uio.h>

namespace errand::net {

struct Moved {
  enum class Want : uint8_t {
    nothing,  // `bytes` moved, at least one.
    read,     // Nothing moved: try again when the socket is readable.
    write,    // ... writable.
    end,      // The peer has finished sending (read only).
    gone,     // The connection is broken.
  };
  size_t bytes = 0;
  Want want = Want::nothing;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Moved read(char* to, size_t bytes) = 0;
  // Writes a prefix of `parts`, of which there is at least one byte.
  virtual Moved write(std::span<const iovec> parts) = 0;
  // Bytes are waiting that the socket's readability does not show.
  virtual bool buffered() const = 0;
  // Says that nothing more will be sent.
  virtual void finish() = 0;
  virtual bool secure() const = 0;
};

// The descriptor stays its Watch's.
std::unique_ptr<Transport> make_plain_transport(int fd);

}  // namespace errand::net
