#include "tests/cli/fake_server.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace errand::cli {

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string Asked::header(const std::string& name) const {
  std::string lowered = lower(head);
  size_t at = lowered.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

FakeServer::FakeServer(Script script, const std::string& unix_path) : script_(std::move(script)) {
  if (unix_path.empty()) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0) throw std::runtime_error("bind");
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  } else {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_path.c_str(), sizeof address.sun_path - 1);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) throw std::runtime_error("bind");
  }
  if (::listen(listener_, 16) != 0 || ::pipe(stop_) != 0) throw std::runtime_error("listen");
  thread_ = std::thread([this] { serve(); });
}

FakeServer::~FakeServer() {
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
  ::close(listener_);
}

std::vector<Asked> FakeServer::asked() const {
  std::lock_guard lock(mutex_);
  return asked_;
}

void FakeServer::serve() {
  for (;;) {
    pollfd waits[2] = {{listener_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    ::poll(waits, 2, -1);
    if (waits[1].revents) return;
    int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    serve_connection(fd);
    ::close(fd);
  }
}

void FakeServer::serve_connection(int fd) {
  std::string buffer;
  for (;;) {
    pollfd waits[2] = {{fd, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    ::poll(waits, 2, -1);
    if (waits[1].revents) return;
    char bytes[4096];
    ssize_t n = ::recv(fd, bytes, sizeof bytes, 0);
    if (n <= 0) return;
    buffer.append(bytes, static_cast<size_t>(n));
    size_t end = buffer.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    Asked asked;
    asked.head = buffer.substr(0, end + 2);
    std::string length = asked.header("content-length");
    size_t body = length.empty() ? 0 : std::stoul(length);
    if (buffer.size() < end + 4 + body) continue;
    asked.body = buffer.substr(end + 4, body);
    buffer.erase(0, end + 4 + body);
    asked.method = asked.head.substr(0, asked.head.find(' '));
    size_t path = asked.method.size() + 1;
    asked.path = asked.head.substr(path, asked.head.find(' ', path) - path);
    size_t before;
    {
      std::lock_guard lock(mutex_);
      before = asked_.size();
      asked_.push_back(asked);
    }
    Answer answer = script_(asked, before);
    ::send(fd, answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL);
    if (answer.close) return;
  }
}

std::string reply(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string stream_head() { return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"; }

std::string event(int id, const std::string& type, const std::string& data) {
  return "id: " + std::to_string(id) + "\nevent: " + type + "\ndata: " + data + "\n\n";
}

}  // namespace errand::cli
