// Work that blocks or takes long, done beside the thread that wants it, and told there.
#pragma once

#include <utility>

#include "base/alive.h"
#include "base/executor.h"

namespace errand {

// Runs `work()` on `elsewhere`, then `then(result)` on `loop`. `work` owns all that it uses; `then` is destroyed on the
// loop, or wherever `elsewhere` drops what it does not run any more. Both executors outlive the work.
template <class F, class Then>
void run_then(Executor& elsewhere, Executor& loop, F work, Then then) {
  elsewhere.post([&loop, work = std::move(work), then = std::move(then)]() mutable {
    loop.post([result = work(), then = std::move(then)]() mutable { then(std::move(result)); });
  });
}
// The same; `then` is left out where its owner is gone by then.
template <class F, class Then>
void run_then(Executor& elsewhere, Executor& loop, Alive::Watch owner, F work, Then then) {
  run_then(elsewhere, loop, std::move(work), [owner = std::move(owner), then = std::move(then)](auto result) mutable {
    if (!owner.gone()) then(std::move(result));
  });
}

// The same for an owner that has one place to work: a member, whose owner is the one that is told.
class Beside {
 public:
  // Both outlive the work, or neither is there: then all is done in the call.
  Beside(Executor* threads, Executor* engine) : threads_(threads), engine_(engine) {}
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // Runs `work`, which owns all that it uses, on one of the threads, and `then` with what it gave on the engine's. Not
  // `then` any more once this is gone or cleared.
  template <class F, class Then>
  void run(F work, Then then) {
    if (threads_ == nullptr || engine_ == nullptr) return then(work());
    run_then(*threads_, *engine_, alive_.watch(), std::move(work), std::move(then));
  }
  void clear() { alive_.renew(); }

 private:
  Executor* threads_;
  Executor* engine_;
  Alive alive_;
};

}  // namespace errand
