#include "base/thread_pool.h"

#include <csignal>
#include <pthread.h>

namespace errand {

ThreadPool::ThreadPool(int threads) {
  // Signals are the main thread's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::post(Work work) {
  {
    const Lock lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(work));
  }
  ready_.notify_one();
}

void ThreadPool::stop() {
  std::deque<Work> dropped;  // Destroyed outside the lock: what it holds may post.
  {
    const Lock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadPool::run() {
  Lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this]() REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace errand
