// An executor for tests on one thread: runs what is posted when it is told to.
#pragma once

#include <deque>
#include <utility>

#include "base/executor.h"

namespace errand {

class HandExecutor final : public Executor {
 public:
  void post(Work work) override { queue_.push_back(std::move(work)); }
  // False: nothing was there to run.
  bool run_one() {
    if (queue_.empty()) return false;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    work();
    return true;
  }
  // Also what is posted by what runs.
  void run() {
    while (run_one()) {
    }
  }

 private:
  std::deque<Work> queue_;
};

}  // namespace errand
