// The loop: the one I/O thread. Engine, HTTP and the supervisor's client live on it. Only loop.cc knows Asio; code that
// needs sockets or timers takes a Watch or a Timer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/time.h"

namespace errand::net {

// One descriptor and whether it can be read or written. Owns the descriptor and closes it. Loop thread only. After its
// destruction no work of it runs.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual int fd() const = 0;
  // Runs `work` once, never inside this call, when a read (write) would not block, or would fail.
  virtual void when_readable(Work work) = 0;
  virtual void when_writable(Work work) = 0;
};

// One deadline. Loop thread only. After its destruction no work of it runs.
class Timer {
 public:
  virtual ~Timer() = default;
  // Runs `work` once at about `at` (steady, SystemClock's); a later call replaces it.
  virtual void set(Time at, Work work) = 0;
  virtual void cancel() = 0;
};

class Loop : public Executor {
 public:
  static std::unique_ptr<Loop> make();
  // Runs until stop(); may be called again after it.
  virtual void run() = 0;
  // From any thread. What was posted before and has not run yet runs in the next run(), or is dropped with the loop.
  virtual void stop() = 0;
  // Calls `work` once at about `at` (steady, SystemClock's); a later call replaces it. For Engine::tick.
  virtual void set_timer(Time at, std::function<void()> work) = 0;
  // Calls `work` on the loop for each of these signals.
  virtual void on_signal(std::vector<int> signals, std::function<void(int)> work) = 0;
  // Takes over `fd`.
  virtual std::unique_ptr<Watch> watch(int fd) = 0;
  virtual std::unique_ptr<Timer> timer() = 0;
  virtual void* context() = 0;  // boost::asio::io_context*, for what brings its own Asio code.
};

}  // namespace errand::net
