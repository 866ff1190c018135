#include "net/transport.h"

#include <cerrno>

#include <sys/socket.h>

namespace errand::net {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int fd) : fd_(fd) {}

  Moved read(char* to, size_t bytes) override {
    for (;;) {
      const ssize_t got = ::recv(fd_, to, bytes, MSG_DONTWAIT);
      if (got > 0) return {static_cast<size_t>(got), Moved::Want::nothing};
      if (got == 0) return {0, Moved::Want::end};
      if (errno == EINTR) continue;
      return {0, errno == EAGAIN ? Moved::Want::read : Moved::Want::gone};
    }
  }

  Moved write(std::span<const iovec> parts) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    for (;;) {
      const ssize_t put = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put >= 0) return {static_cast<size_t>(put), Moved::Want::nothing};
      if (errno == EINTR) continue;
      return {0, errno == EAGAIN ? Moved::Want::write : Moved::Want::gone};
    }
  }

  bool buffered() const override { return false; }
  void finish() override { ::shutdown(fd_, SHUT_WR); }
  bool secure() const override { return false; }

 private:
  const int fd_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(int fd) { return std::make_unique<PlainTransport>(fd); }

}  // namespace errand::net
