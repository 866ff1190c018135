// A few threads that run what is posted, in any order between them. For reading the store and other blocking work.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"

namespace errand {

class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  void post(Work work) override;
  // Finishes what runs, drops what waits, joins the threads. Posting afterwards drops.
  void stop();

 private:
  void run();

  Mutex mutex_;
  Wakeup ready_;
  std::deque<Work> waiting_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace errand
