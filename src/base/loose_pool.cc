#include "base/loose_pool.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>

namespace errand {
namespace {

// A thread that nothing comes to for this long ends: hanging mounts leave no crowd behind when they are back.
constexpr std::chrono::seconds idle_for{10};

}  // namespace

struct LoosePool::State {
  explicit State(int max) : threads_max(max) {}
  const int threads_max;
  std::mutex mutex;
  std::condition_variable ready;  // Something waits, or it is stopped.
  std::condition_variable ended;  // A thread has ended.
  // All guarded by mutex.
  std::deque<Work> waiting;
  int threads = 0;
  int idle = 0;
  bool stopped = false;
};

LoosePool::LoosePool(int threads_max) : state_(std::make_shared<State>(threads_max)) {}

LoosePool::~LoosePool() { stop(0); }

void LoosePool::post(Work work) {
  bool more = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    state_->waiting.push_back(std::move(work));
    more = std::ssize(state_->waiting) > state_->idle && state_->threads < state_->threads_max;
    if (more) ++state_->threads;
  }
  state_->ready.notify_one();
  if (!more) return;
  // Signals are the main thread's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([state = state_] { run(state); }).detach();
  } catch (const std::system_error&) {  // The machine has none to give: what waits waits for those that there are.
    const std::lock_guard lock(state_->mutex);
    --state_->threads;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool LoosePool::stop(Millis patience) {
  std::deque<Work> dropped;  // Destroyed outside the lock: what it holds may post.
  std::unique_lock lock(state_->mutex);
  state_->stopped = true;
  dropped.swap(state_->waiting);
  state_->ready.notify_all();
  const bool all =
      state_->ended.wait_for(lock, std::chrono::milliseconds(patience), [this] { return state_->threads == 0; });
  lock.unlock();
  return all;
}

void LoosePool::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    ++state->idle;
    const bool woken = state->ready.wait_for(lock, idle_for, [&] { return state->stopped || !state->waiting.empty(); });
    --state->idle;
    if (!woken || state->stopped) break;
    Work work = std::move(state->waiting.front());
    state->waiting.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --state->threads;
  state->ended.notify_all();
}

}  // namespace errand
