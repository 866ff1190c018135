#include "process/peer.h"

#include <cerrno>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace errand::process {
namespace {
constexpr size_t waiting_max = 8u << 20;
constexpr size_t kept_max = 64u << 10;  // Of memory, when all is sent.
}  // namespace

Peer::Peer(Fd socket, EventLoop& loop, PeerOwner& owner) : socket_(std::move(socket)), loop_(loop), owner_(owner) {
  loop_.watch(socket_.get(), EPOLLIN, this);
}

Peer::~Peer() { close(); }

void Peer::close() {
  if (closed_) return;
  closed_ = true;
  loop_.forget(socket_.get());
  socket_.reset();
}

void Peer::ready(int /*fd*/, uint32_t events) {
  if (events & EPOLLOUT) flush();
  if (!closed_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) receive();
}

void Peer::receive() {
  char buffer[64 * 1024];
  ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return close();
  reader_.append({buffer, static_cast<size_t>(n)});
  while (!closed_) {
    auto payload = reader_.next();
    if (!payload) break;
    auto fields = Fields::parse(*payload);
    if (!fields) return close();
    owner_.frame(*this, *fields);
  }
  if (reader_.broken()) close();
}

void Peer::send(std::string_view frame) {
  if (!waiting_.empty() && waiting_.size() + frame.size() > waiting_max) flush();
  if (closed_) return;
  if (!waiting_.empty() && waiting_.size() + frame.size() > waiting_max) return close();
  waiting_ += frame;
}

void Peer::flush() {
  if (closed_ || waiting_.empty()) return;
  const ssize_t n = ::send(socket_.get(), waiting_.data(), waiting_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return close();
  if (n > 0) waiting_.erase(0, static_cast<size_t>(n));
  if (waiting_.capacity() > kept_max && waiting_.empty()) std::string().swap(waiting_);
  if (blocked_ == !waiting_.empty()) return;
  blocked_ = !waiting_.empty();
  loop_.watch(socket_.get(), blocked_ ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
}

}  // namespace errand::process
