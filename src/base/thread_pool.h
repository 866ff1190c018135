// A few threads that run what is posted, in any order between them. For reading the store and other blocking work.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/executor.h"

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

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work> waiting_;  // Guarded by mutex_.
  bool stopped_ = false;      // Guarded by mutex_.
  std::vector<std::thread> threads_;
};

}  // namespace errand
