#include "process/connection.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/log.h"
#include "process/clock.h"
#include "process/protocol.h"

namespace errand::process {
namespace {
constexpr Millis find_patience_ms = 10'000;
constexpr Millis find_again_ms = 200;
constexpr Millis log_again_ms = 10'000;
}  // namespace

Connection::Connection(SupervisorFinder finder, FoundSupervisor found, Events events)
    : finder_(std::move(finder)), events_(std::move(events)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  adopt(std::move(found));
  thread_ = std::thread([this] { run(); });
}

Connection::~Connection() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void Connection::wake() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void Connection::send(const std::string& frame) {
  const Lock lock(mutex_);
  if (!socket_ || !open_) return;
  size_t sent = 0;
  // Straight from the caller's thread where the socket takes it: no hop, no delay.
  if (waiting_.empty()) {
    ssize_t n = ::send(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return;  // The thread sees the end of it.
    if (n > 0) sent = static_cast<size_t>(n);
  }
  if (sent == frame.size()) return;
  waiting_.append(frame, sent);
  wake();
}

void Connection::open() {
  const Lock lock(mutex_);
  open_ = true;
}

void Connection::post(Work work) {
  {
    const Lock lock(mutex_);
    work_.push_back(std::move(work));
  }
  wake();
}

void Connection::adopt(FoundSupervisor found) {
  const Lock lock(mutex_);
  reader_ = std::move(found.reader);
  socket_ = std::move(found.socket);
  waiting_.clear();
}

void Connection::run() {
  for (;;) {
    while (serve()) {
    }
    {
      const Lock lock(mutex_);
      if (stopping_) return;
      socket_.reset();
      open_ = false;
    }
    find_again();
  }
}

// One round; false: the connection is gone, or nobody wants it any more.
bool Connection::serve() {
  pollfd fds[] = {{wake_.get(), POLLIN, 0}, {-1, POLLIN, 0}};
  {
    const Lock lock(mutex_);
    if (stopping_) return false;
    fds[1].fd = socket_.get();
    if (!waiting_.empty()) fds[1].events |= POLLOUT;
  }
  ::poll(fds, 2, -1);
  if (fds[0].revents) {
    uint64_t count = 0;
    [[maybe_unused]] ssize_t n = ::read(wake_.get(), &count, sizeof count);
  }
  std::vector<Work> work;
  {
    const Lock lock(mutex_);
    work.swap(work_);
    if ((fds[1].revents & POLLOUT) && !waiting_.empty()) {
      ssize_t n = ::send(socket_.get(), waiting_.data(), waiting_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) waiting_.erase(0, static_cast<size_t>(n));
    }
  }
  for (Work& item : work) item();
  if (!(fds[1].revents & (POLLIN | POLLHUP | POLLERR))) return true;
  char buffer[64 * 1024];
  ssize_t n = ::recv(fds[1].fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  reader_.append({buffer, static_cast<size_t>(n)});
  std::vector<std::string> payloads;
  while (auto payload = reader_.next()) payloads.emplace_back(*payload);
  if (!payloads.empty()) events_.payloads(std::move(payloads));
  return !reader_.broken();
}

void Connection::find_again() {
  const Millis unavailable_ms = finder_.options().unavailable_ms;
  const int64_t since = steady_ms();
  int64_t log_at = since;
  for (;;) {
    auto found = finder_.find(std::min(find_patience_ms, unavailable_ms));
    if (found) {
      Abilities abilities = std::move(found->abilities);
      adopt(std::move(*found));
      events_.connected(std::move(abilities));
      return;
    }
    const int64_t now = steady_ms();
    if (now >= log_at) {
      log_error("process", found.error().message);
      log_at = now + log_again_ms;
    }
    if (found.error().reason == supervisor_unavailable && now - since >= unavailable_ms)
      events_.unavailable(found.error());
    ::poll(nullptr, 0, static_cast<int>(find_again_ms));
    const Lock lock(mutex_);
    if (stopping_) return;
  }
}

}  // namespace errand::process
