#include "process/event_loop.h"

#include <sys/epoll.h>

namespace errand::process {

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void EventLoop::watch(int fd, uint32_t events, Ready* who) {
  auto index = static_cast<size_t>(fd);
  if (index >= watchers_.size()) watchers_.resize(index + 1);
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), watchers_[index] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  watchers_[index] = who;
}

void EventLoop::forget(int fd) {
  auto index = static_cast<size_t>(fd);
  if (index >= watchers_.size() || !watchers_[index]) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watchers_[index] = nullptr;
}

void EventLoop::wait(int timeout_ms) {
  epoll_event events[64];
  int n = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
  for (int i = 0; i < n; ++i) {
    // One that was forgotten by an earlier one of this batch is null by now.
    Ready* who = watchers_[static_cast<size_t>(events[i].data.fd)];
    if (who) who->ready(events[i].data.fd, events[i].events);
  }
}

}  // namespace errand::process
