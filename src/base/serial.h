// Work on another executor's threads, one after the other in the order in which it was posted.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/mutex.h"

namespace errand {

class Serial final : public Executor {
 public:
  explicit Serial(Executor& threads) : state_(std::make_shared<State>(threads)) {}

  void post(Work work) override {
    {
      const Lock lock(state_->mutex);
      state_->waiting.push_back(std::move(work));
      if (std::exchange(state_->running, true)) return;
    }
    run_next(state_);
  }

 private:
  struct State {
    explicit State(Executor& on) : threads(on) {}
    Executor& threads;
    Mutex mutex;
    std::deque<Work> waiting GUARDED_BY(mutex);
    bool running GUARDED_BY(mutex) = false;
  };
  static void run_next(const std::shared_ptr<State>& state) {
    state->threads.post([state] {
      Work work;
      {
        const Lock lock(state->mutex);
        work = std::move(state->waiting.front());
        state->waiting.pop_front();
      }
      work();
      work = nullptr;
      const Lock lock(state->mutex);
      state->running = !state->waiting.empty();
      if (state->running) run_next(state);
    });
  }
  std::shared_ptr<State> state_;
};

}  // namespace errand
