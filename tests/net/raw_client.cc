#include "tests/net/raw_client.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace errand::net {
namespace {
constexpr int patience_ms = 20'000;
}

std::string RawReply::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

bool RawReply::has(std::string_view name) const {
  return std::ranges::any_of(headers, [&](const auto& header) { return header.first == name; });
}

RawClient RawClient::tcp(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return RawClient(fd);
  if (fd >= 0) ::close(fd);
  return RawClient(-1);
}

RawClient RawClient::unix_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return RawClient(fd);
  ::close(fd);
  return RawClient(-1);
}

RawClient& RawClient::operator=(RawClient&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(got_, other.got_);
  return *this;
}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawClient::half_close() { ::shutdown(fd_, SHUT_WR); }

void RawClient::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(fd_, -1));
}

bool RawClient::more() {
  pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, patience_ms) <= 0) return false;
  char buffer[64 << 10];
  const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  got_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::optional<std::string> RawClient::until(std::string_view text) {
  size_t found;
  while ((found = got_.find(text)) == std::string::npos)
    if (!more()) return std::nullopt;
  std::string taken = got_.substr(0, found + text.size());
  got_.erase(0, taken.size());
  return taken;
}

std::optional<RawReply> RawClient::reply(bool head_only) {
  const std::optional<std::string> head = until("\r\n\r\n");
  if (!head || head->size() < 12) return std::nullopt;
  RawReply reply;
  reply.status = std::atoi(head->c_str() + 9);
  size_t from = head->find("\r\n") + 2;
  while (from < head->size() - 2) {
    const size_t end = head->find("\r\n", from), colon = head->find(": ", from);
    std::string name = head->substr(from, colon - from);
    std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    reply.headers.emplace_back(std::move(name), head->substr(colon + 2, end - colon - 2));
    from = end + 2;
  }
  if (reply.status == 100) return this->reply(head_only);
  reply.chunked = reply.header("transfer-encoding") == "chunked";
  if (head_only || reply.status == 204 || reply.status == 304) return reply;
  if (reply.chunked) {
    for (;;) {
      const std::optional<std::string> line = until("\r\n");
      if (!line) return std::nullopt;
      const size_t size = std::strtoul(line->c_str(), nullptr, 16);
      while (got_.size() < size + 2)
        if (!more()) return std::nullopt;
      reply.body += got_.substr(0, size);
      got_.erase(0, size + 2);
      if (size == 0) return reply;
    }
  }
  if (!reply.has("content-length")) {
    reply.body = rest();
    return reply;
  }
  const size_t length = std::strtoul(reply.header("content-length").c_str(), nullptr, 10);
  while (got_.size() < length)
    if (!more()) return std::nullopt;
  reply.body = got_.substr(0, length);
  got_.erase(0, length);
  return reply;
}

std::string RawClient::rest() {
  while (more()) {
  }
  return std::exchange(got_, {});
}

bool RawClient::closed() {
  for (;;) {
    pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, patience_ms) <= 0) return false;
    char buffer[64 << 10];
    if (::recv(fd_, buffer, sizeof buffer, 0) <= 0) return true;
  }
}

}  // namespace errand::net
