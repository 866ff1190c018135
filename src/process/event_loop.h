// epoll, for the supervisor's one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "process/fd.h"

namespace errand::process {

// Called when a descriptor is ready. Level-triggered and sometimes spurious, so every read and write must be
// non-blocking.
class Ready {
 public:
  virtual ~Ready() = default;
  virtual void ready(int fd, uint32_t events) = 0;
};

class EventLoop {
 public:
  EventLoop();
  bool ok() const { return static_cast<bool>(epoll_); }

  // Begins or changes what is watched. `who` outlives it, or calls forget.
  void watch(int fd, uint32_t events, Ready* who);
  // Before closing: an epoll set goes on reporting a descriptor whose description a fork still holds.
  void forget(int fd);
  // Waits and hands out. -1: for as long as it takes.
  void wait(int timeout_ms);

 private:
  Fd epoll_;
  std::vector<Ready*> watchers_;  // By descriptor.
};

}  // namespace errand::process
