// The client's connection to the supervisor: finds or starts one, and one again whenever it is lost. Has a thread of
// its own, so that the engine's never waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/executor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "process/client.h"
#include "process/fd.h"
#include "process/wire.h"

namespace errand::process {

// A connected supervisor, and what it said of itself.
struct FoundSupervisor {
  Fd socket;
  FrameReader reader;  // May hold the beginning of what follows the hello.
  int64_t version = 0;
  std::string build;
  Abilities abilities;
};

// Connects to the supervisor of a data folder, or starts one first. At most about `patience_ms`.
class SupervisorFinder {
 public:
  explicit SupervisorFinder(ClientOptions options) : options_(std::move(options)) {}
  Result<FoundSupervisor> find(Millis patience_ms);
  const ClientOptions& options() const { return options_; }

 private:
  // Reaps those that this process started and that have died.
  void reap();
  Result<Fd> connect();
  Status start();
  Result<FoundSupervisor> greet(Fd socket, Millis patience_ms);

  const ClientOptions options_;
  std::vector<pid_t> started_;
  int failed_ = 0;  // Of those, how many could not begin; one that finds another at work leaves without a failure.
};

class Connection {
 public:
  // Called on the connection's thread.
  struct Events {
    std::function<void(Abilities)> connected;  // Anew, not yet opened; what was not answered before never will be.
    std::function<void(std::vector<std::string>)> payloads;
    std::function<void(Error)> unavailable;  // None can be started, for unavailable_ms now. Again and again.
  };
  Connection(SupervisorFinder finder, FoundSupervisor found, Events events);
  ~Connection();

  // Any thread. Frames are dropped while there is no connection, and on a new one until it is opened: the sender keeps
  // what must be repeated, and repeats it in order.
  void send(const std::string& frame);
  void open();
  // Runs `work` on the connection's thread, for what would block the caller.
  void post(Work work);

 private:
  void run();
  bool serve();
  void find_again();
  void adopt(FoundSupervisor found);
  void wake();

  SupervisorFinder finder_;
  const Events events_;
  Fd wake_;

  Mutex mutex_;
  Fd socket_ GUARDED_BY(mutex_);
  bool open_ GUARDED_BY(mutex_) = true;
  std::string waiting_ GUARDED_BY(mutex_);  // Not yet sent.
  std::vector<Work> work_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;

  FrameReader reader_;  // The thread's own.
  std::thread thread_;
};

}  // namespace errand::process
