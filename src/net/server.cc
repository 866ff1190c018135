#include "net/server.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/log.h"
#include "net/connection.h"
#include "net/tls.h"

namespace errand::net {
namespace {

// Descriptors that connections leave to the store, the journals and the supervisor's socket.
constexpr rlim_t descriptor_reserve = 128;
// Connections over the limit that are still told so; beyond them they are just closed.
constexpr size_t refused_at_once = 64;
// How long accepting rests when the process or the machine has no descriptor or memory left.
constexpr Millis accept_rest_ms = 100;
constexpr int accepts_per_turn = 64;
// Past this much unsent data in the kernel a socket counts as full: a stalled reader must not keep megabytes there.
constexpr int unsent_bytes_max = 128 << 10;

std::string system_error(int error) { return std::strerror(error); }

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool loopback = false;
};

Result<Address> parse_address(const std::string& text, int port) {
  Address address;
  const std::string host = text == "localhost" ? "127.0.0.1" : text;
  if (port < 0 || port > 65535)
    return fail(Code::invalid_argument, "The port " + std::to_string(port) + " is not between 0 and 65535.");
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof v4;
    address.loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof v6;
    address.loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  } else {
    return fail(Code::invalid_argument,
                "\"" + text + "\" is not an IP address to listen on; use for example 127.0.0.1 or ::1.");
  }
  return address;
}

// One form per client: an IPv4 client of an IPv6 socket is that IPv4 address.
std::string peer_name(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET6) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address))
      ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
    else
      ::inet_ntop(AF_INET6, &address, text, sizeof text);
  } else {
    return "unix";
  }
  return text;
}

class HttpServer final : public Server {
 public:
  HttpServer(Loop& loop, ServerLimits limits, HeadCheck check, Handler handler)
      : state_(std::make_shared<ServerState>(loop, limits, std::move(check), std::move(handler))),
        sweeper_(loop.timer()),
        rest_(loop.timer()),
        spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

  ~HttpServer() override {
    state_->on_empty = nullptr;
    const auto all = state_->connections;
    for (const auto& connection : all) connection->close();
    if (spare_ >= 0) ::close(spare_);
  }

  Result<int> listen(const std::string& address, int port, Exposure exposure) override {
    const Result<Address> parsed = parse_address(address, port);
    if (parsed && !parsed->loopback && exposure == Exposure::loopback_only)
      return fail(Code::forbidden, "Listening on " + address +
                                       " would send the token in the clear over the network: give a certificate and "
                                       "key for TLS, or say that a proxy does TLS (--behind-proxy).");
    return listen_on(parsed, nullptr);
  }

  Result<int> listen_tls(const std::string& address, int port, const TlsFiles& files) override {
    Result<std::shared_ptr<TlsContext>> tls = make_tls_context(files);
    if (!tls) return std::unexpected(tls.error());
    return listen_on(parse_address(address, port), std::move(*tls));
  }

  Status listen_unix(const std::string& path) override;
  void accept() override {
    accepting_ = true;
    for (const auto& listener : listeners_) arm(*listener);
  }
  void stop(std::string farewell, std::function<void()> done) override;
  ServerStats stats() const override { return state_->stats; }
  void end_stale() override {
    const auto all = state_->connections;
    for (const auto& connection : all) connection->close_if_stale();
  }

 private:
  struct Listener {
    std::unique_ptr<Watch> watch;
    std::shared_ptr<TlsContext> tls;  // Null: plain.
    bool over_unix = false;
  };

  Result<int> listen_on(const Result<Address>& address, std::shared_ptr<TlsContext> tls);
  void add(int fd, std::shared_ptr<TlsContext> tls, bool over_unix);
  void arm(Listener& listener);
  void accept_some(Listener& listener);
  void admit(int fd, const sockaddr_storage& from, const Listener& listener);
  void shed(Listener& listener);
  void sweep();
  size_t connections_max() const;

  const std::shared_ptr<ServerState> state_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unique_ptr<Timer> sweeper_;
  std::unique_ptr<Timer> rest_;
  std::vector<Listener*> resting_;
  bool sweeping_ = false;
  bool accepting_ = false;
  int spare_;  // Given up for a moment to refuse a connection when there is no descriptor left for it.
};

Result<int> HttpServer::listen_on(const Result<Address>& address, std::shared_ptr<TlsContext> tls) {
  if (!address) return std::unexpected(address.error());
  const int fd = ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(Code::unavailable, "Cannot make a socket: " + system_error(errno) + ".");
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit these.
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max, sizeof unsent_bytes_max);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address->storage), address->size) < 0 ||
      ::listen(fd, SOMAXCONN) < 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) < 0) {
    const int error = errno;
    ::close(fd);
    const std::string hint =
        error == EADDRINUSE ? " Another server uses it; choose another port, or 0 for a free one." : "";
    return fail(Code::unavailable, "Cannot listen on that address and port: " + system_error(error) + "." + hint);
  }
  add(fd, std::move(tls), false);
  return ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                                          : reinterpret_cast<sockaddr_in6&>(bound).sin6_port);
}

Status HttpServer::listen_unix(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path)
    return fail(Code::invalid_argument, "The socket's path \"" + path + "\" is longer than the system allows (" +
                                            std::to_string(sizeof name.sun_path - 1) +
                                            " bytes); choose a shorter data folder.");
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(Code::unavailable, "Cannot make a socket: " + system_error(errno) + ".");
  struct stat old{};
  if (::lstat(path.c_str(), &old) == 0 && S_ISSOCK(old.st_mode)) ::unlink(path.c_str());
  // Before bind, so that the file never has another mode.
  if (::fchmod(fd, 0600) < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) < 0 ||
      ::listen(fd, SOMAXCONN) < 0) {
    const int error = errno;
    ::close(fd);
    return fail(Code::unavailable, "Cannot listen on " + path + ": " + system_error(error) + ".");
  }
  add(fd, nullptr, true);
  return {};
}

void HttpServer::add(int fd, std::shared_ptr<TlsContext> tls, bool over_unix) {
  listeners_.push_back(std::make_unique<Listener>(Listener{state_->loop.watch(fd), std::move(tls), over_unix}));
  if (accepting_) arm(*listeners_.back());
}

void HttpServer::arm(Listener& listener) {
  listener.watch->when_readable([this, &listener] { accept_some(listener); });
}

void HttpServer::accept_some(Listener& listener) {
  for (int i = 0; i < accepts_per_turn; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const int fd =
        ::accept4(listener.watch->fd(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(fd, from, listener);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return shed(listener);
    }  // Else that one connection failed before it was accepted.
  }
  arm(listener);
}

// No descriptor for another connection: one is refused in words, then accepting rests.
void HttpServer::shed(Listener& listener) {
  log_warning("net", "no file descriptors are left: new connections wait");
  if (spare_ >= 0) {
    ::close(spare_);
    const int fd = ::accept4(listener.watch->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      constexpr std::string_view busy =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      [[maybe_unused]] const ssize_t sent = ::send(fd, busy.data(), busy.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      ::shutdown(fd, SHUT_WR);
      ::close(fd);
    }
    spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  resting_.push_back(&listener);
  rest_->set(state_->clock.steady() + accept_rest_ms, [this] {
    for (Listener* each : std::exchange(resting_, {})) accept_some(*each);
  });
}

size_t HttpServer::connections_max() const {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t room =
      limit.rlim_cur > 2 * descriptor_reserve ? limit.rlim_cur - descriptor_reserve : limit.rlim_cur / 2;
  return std::min<size_t>(state_->limits.connections, room);
}

void HttpServer::admit(int fd, const sockaddr_storage& from, const Listener& listener) {
  const size_t open = state_->connections.size(), most = connections_max();
  bool welcome = open < most + refused_at_once;
  if (listener.over_unix) {
    ucred peer{};
    socklen_t size = sizeof peer;
    // The file's mode keeps others out; this also holds where somebody opened the folder to them.
    welcome = welcome && ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
  }
  if (!welcome) {
    ::close(fd);
    return;
  }
  std::unique_ptr<Transport> transport =
      listener.tls ? make_tls_transport(*listener.tls, fd) : make_plain_transport(fd);
  auto connection = std::make_shared<Connection>(state_, state_->loop.watch(fd), std::move(transport),
                                                 Connection::Peer{peer_name(from), listener.over_unix});
  if (open < most)
    connection->start();
  else
    connection->start_refusing();
  if (!sweeping_) sweep();
}

// One timer for all deadlines: they are long, and walking the list costs less than a timer each.
void HttpServer::sweep() {
  const ServerLimits& limits = state_->limits;
  const Time now = state_->clock.steady();
  auto& all = state_->connections;
  // Backwards: one that closes is replaced by the last, which was seen already.
  for (size_t i = all.size(); i-- > 0;)
    if (i < all.size()) all[i]->sweep(now);
  sweeping_ = !all.empty();
  if (!sweeping_) return;
  const Millis shortest = std::min({limits.header_ms, limits.idle_ms, limits.write_stall_ms, limits.drain_ms});
  sweeper_->set(now + std::clamp<Millis>(shortest / 4, 10, 1000), [this] { sweep(); });
}

void HttpServer::stop(std::string farewell, std::function<void()> done) {
  state_->stopping = true;
  resting_.clear();
  rest_->cancel();
  listeners_.clear();
  state_->on_empty = std::move(done);
  const auto all = state_->connections;
  for (const auto& connection : all) connection->stop(farewell);
  if (state_->connections.empty() && state_->on_empty) state_->loop.post(std::exchange(state_->on_empty, nullptr));
}

}  // namespace

std::unique_ptr<Server> make_server(Loop& loop, ServerLimits limits, HeadCheck check, Handler handler) {
  return std::make_unique<HttpServer>(loop, limits, std::move(check), std::move(handler));
}

bool is_loopback(std::string_view address) {
  const Result<Address> parsed = parse_address(std::string(address), 0);
  return parsed && parsed->loopback;
}

}  // namespace errand::net
