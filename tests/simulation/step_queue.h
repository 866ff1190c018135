// An executor that runs nothing by itself: the simulator picks which of its queues goes on, and when.
#pragma once

#include <deque>
#include <utility>

#include "base/executor.h"

namespace errand::sim {

class StepQueue final : public Executor {
 public:
  void post(Work work) override { works_.push_back(std::move(work)); }
  bool empty() const { return works_.empty(); }
  void run_one() {
    Work work = std::move(works_.front());
    works_.pop_front();
    work();
  }
  // As when the process dies: what waits never happens.
  void drop_all() { std::exchange(works_, {}).clear(); }

 private:
  std::deque<Work> works_;
};

}  // namespace errand::sim
