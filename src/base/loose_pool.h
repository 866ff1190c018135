// Threads for calls that may never come back: a file on a network mount that is gone. They are made as they are needed,
// up to a bound; what is posted past it waits for one. One that hangs in the kernel cannot be ended: it is left behind.
#pragma once

#include <memory>

#include "base/executor.h"
#include "base/time.h"

namespace errand {

class LoosePool final : public Executor {
 public:
  explicit LoosePool(int threads_max);
  // stop(), without patience.
  ~LoosePool() override;
  LoosePool(const LoosePool&) = delete;
  LoosePool& operator=(const LoosePool&) = delete;

  void post(Work work) override;
  // Drops what waits, and gives what runs this long to end; posting afterwards drops. False: something still runs, and
  // may yet touch whatever its work refers to. The process is to end without destroying that.
  bool stop(Millis patience);

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // The threads', too: they may outlive this.
};

}  // namespace errand
