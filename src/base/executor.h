// Where work runs. The server has one I/O thread (the engine's), reader threads for the store, and the store's own
// writer thread; tests run everything inline or by hand.
#pragma once

#include <functional>

namespace errand {

using Work = std::move_only_function<void()>;

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` later, never inside this call; in the order of the calls from one thread. Safe from any thread.
  // Work that is still waiting when the executor is destroyed is dropped.
  virtual void post(Work work) = 0;
};

}  // namespace errand
