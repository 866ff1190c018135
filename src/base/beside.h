// Work that blocks or takes long, done beside the engine's thread for an owner on it, and told to the owner if it is
// still there.
#pragma once

#include <memory>
#include <utility>

#include "base/executor.h"

namespace errand {

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
    threads_->post(
        [engine = engine_, here = std::weak_ptr(here_), work = std::move(work), then = std::move(then)]() mutable {
          engine->post([here = std::move(here), result = work(), then = std::move(then)]() mutable {
            if (!here.expired()) then(std::move(result));
          });
        });
  }
  void clear() { here_ = std::make_shared<char>(); }

 private:
  Executor* threads_;
  Executor* engine_;
  std::shared_ptr<char> here_ = std::make_shared<char>();
};

}  // namespace errand
