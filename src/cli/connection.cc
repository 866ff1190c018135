#include "cli/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cli/interrupt.h"

namespace errand::cli {

namespace {

enum class Ready : uint8_t { yes, timeout, interrupted, woken };

Ready wait_for(int fd, short events, Time deadline, int wake = -1) {
  for (;;) {
    if (Interrupt::happened()) return Ready::interrupted;
    // Those that are negative are not looked at.
    pollfd waits[3] = {{fd, events, 0}, {Interrupt::fd(), POLLIN, 0}, {wake, POLLIN, 0}};
    Millis left = std::clamp<Millis>(deadline - steady_now(), 0, 1 << 30);
    int n = ::poll(waits, 3, static_cast<int>(left));
    if (n > 0 && waits[0].revents) return Ready::yes;
    if (n > 0 && waits[2].revents) return Ready::woken;
    if (n == 0) return Ready::timeout;
  }
}

std::unexpected<Error> unreachable(const Endpoint& endpoint, std::string_view why) {
  std::string where =
      endpoint.unix_path.empty() ? fmt::format("{}:{}", endpoint.host, endpoint.port) : endpoint.unix_path;
  return fail(Code::unavailable, fmt::format("No server answers at {} ({}).", where, why), "unreachable");
}

std::unexpected<Error> interrupted() { return fail(Code::unavailable, "Interrupted.", "interrupted"); }

Status connect_to(int fd, const sockaddr* address, socklen_t length, const Endpoint& endpoint, Time deadline) {
  if (::connect(fd, address, length) == 0) return {};
  if (errno != EINPROGRESS) return unreachable(endpoint, std::strerror(errno));
  switch (wait_for(fd, POLLOUT, deadline)) {
    case Ready::timeout:
      return unreachable(endpoint, "it took too long");
    case Ready::interrupted:
      return interrupted();
    case Ready::yes:
    case Ready::woken:
      break;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return unreachable(endpoint, std::strerror(error));
  return {};
}

Result<int> open_unix(const Endpoint& endpoint, Time deadline) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string& path = endpoint.unix_path;
  if (path.size() >= sizeof address.sun_path) return unreachable(endpoint, "its path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  Status connected =
      fd < 0 ? Status(unreachable(endpoint, std::strerror(errno)))
             : connect_to(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address, endpoint, deadline);
  if (connected) return fd;
  if (fd >= 0) ::close(fd);
  return std::unexpected(connected.error());
}

Result<int> open_tcp(const Endpoint& endpoint, Time deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) return unreachable(endpoint, ::gai_strerror(error));
  Status connected = unreachable(endpoint, "no address");
  int fd = -1;
  for (addrinfo* at = found; at && fd < 0; at = at->ai_next) {
    fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) continue;
    connected = connect_to(fd, at->ai_addr, at->ai_addrlen, endpoint, deadline);
    if (connected) break;
    ::close(fd);
    fd = -1;
  }
  ::freeaddrinfo(found);
  if (fd < 0) return std::unexpected(connected.error());
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

struct Connection::Tls {
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  ~Tls() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
};

Time steady_now() { return SystemClock().steady(); }
Time wall_now() { return SystemClock().wall(); }

Connection::Connection(int fd) : fd_(fd) {}

Connection::~Connection() {
  tls_.reset();
  ::close(fd_);
}

Result<std::unique_ptr<Connection>> Connection::open(const Endpoint& endpoint, Time deadline) {
  Result<int> fd = endpoint.unix_path.empty() ? open_tcp(endpoint, deadline) : open_unix(endpoint, deadline);
  if (!fd) return std::unexpected(fd.error());
  std::unique_ptr<Connection> connection(new Connection(*fd));
  if (endpoint.tls)
    if (Status done = connection->handshake(endpoint, deadline); !done) return std::unexpected(done.error());
  return connection;
}

Status Connection::handshake(const Endpoint& endpoint, Time deadline) {
  tls_ = std::make_unique<Tls>();
  tls_->context = SSL_CTX_new(TLS_client_method());
  if (!tls_->context) return unreachable(endpoint, "TLS cannot be set up");
  SSL_CTX_set_min_proto_version(tls_->context, TLS1_2_VERSION);
  SSL_CTX_set_default_verify_paths(tls_->context);
  SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER, nullptr);
  tls_->ssl = SSL_new(tls_->context);
  X509_VERIFY_PARAM* check = SSL_get0_param(tls_->ssl);
  if (!X509_VERIFY_PARAM_set1_ip_asc(check, endpoint.host.c_str())) {
    SSL_set1_host(tls_->ssl, endpoint.host.c_str());
    SSL_set_tlsext_host_name(tls_->ssl, endpoint.host.c_str());
  }
  SSL_set_fd(tls_->ssl, fd_);
  for (;;) {
    int result = SSL_connect(tls_->ssl);
    if (result == 1) return {};
    int error = SSL_get_error(tls_->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      long verified = SSL_get_verify_result(tls_->ssl);
      if (verified != X509_V_OK)
        return unreachable(
            endpoint,
            fmt::format("its certificate is not trusted: {}. If a private authority signed it, set SSL_CERT_FILE",
                        X509_verify_cert_error_string(verified)));
      return unreachable(endpoint, "it does not speak TLS");
    }
    Ready ready = wait_for(fd_, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline);
    if (ready == Ready::interrupted) return interrupted();
    if (ready == Ready::timeout) return unreachable(endpoint, "it took too long");
  }
}

Status Connection::write(std::string_view bytes, Time deadline) {
  while (!bytes.empty()) {
    ssize_t n;
    short wants = POLLOUT;
    if (tls_) {
      n = SSL_write(tls_->ssl, bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20)));
      int error = n > 0 ? 0 : SSL_get_error(tls_->ssl, static_cast<int>(n));
      if (error == SSL_ERROR_WANT_READ) wants = POLLIN;
      if (n <= 0 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        return fail(Code::unavailable, "The server closed the connection. Try again.", "closed");
    } else {
      n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR)
        return fail(Code::unavailable, "The server closed the connection. Try again.", "closed");
    }
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    Ready ready = wait_for(fd_, wants, deadline);
    if (ready == Ready::interrupted) return interrupted();
    if (ready == Ready::timeout)
      return fail(Code::unavailable, "The server did not take the request in time. Try again.", "timeout");
  }
  return {};
}

Connection::Read Connection::read(std::string& out, Time deadline, int wake) {
  char buffer[64 << 10];
  for (;;) {
    ssize_t n;
    short wants = POLLIN;
    if (tls_) {
      n = SSL_read(tls_->ssl, buffer, sizeof buffer);
      int error = n > 0 ? 0 : SSL_get_error(tls_->ssl, static_cast<int>(n));
      if (error == SSL_ERROR_WANT_WRITE) wants = POLLOUT;
      if (n <= 0 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return Read::eof;
    } else {
      n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return Read::eof;
    }
    if (n > 0) {
      out.append(buffer, static_cast<size_t>(n));
      return Read::some;
    }
    Ready ready = wait_for(fd_, wants, deadline, wake);
    if (ready == Ready::interrupted) return Read::interrupted;
    if (ready == Ready::timeout) return Read::timeout;
    if (ready == Ready::woken) return Read::woken;
  }
}

}  // namespace errand::cli
