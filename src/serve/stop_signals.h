// SIGTERM and SIGINT, as a wish to stop that always comes true.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <string>

#include "base/mutex.h"

namespace errand::serve {

// The first signal is passed on; a second one, or one that had no effect within 5 seconds, ends the process as a kill
// would, but for the files that say where the server is: what is durable stays, what runs goes on, and nothing waits
// for a disk that does not answer. For the same reason they are heard by a thread of their own: the loop may be what
// waits. Never destroyed: its thread lives as long as the process.
class StopSignals {
 public:
  // Before any other thread is begun: they all leave these signals to this one.
  explicit StopSignals(std::string data_dir);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Once. `stop` is called on the thread of the signals, at most once, and not after forget().
  void pass_to(std::function<void()> stop);
  // Who was to be told is about to go.
  void forget();

  std::atomic<bool> owns_folder = false;  // The files in it are ours: its database is locked.

 private:
  [[noreturn]] void listen();

  const std::string data_dir_;
  sigset_t signals_{};
  Mutex mutex_;
  std::function<void()> stop_ GUARDED_BY(mutex_);
};

}  // namespace errand::serve
