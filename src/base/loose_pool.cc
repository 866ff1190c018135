#include "base/loose_pool.h"

#include <chrono>
#include <csignal>
#include <deque>
#include <pthread.h>
#include <system_error>
#include <thread>

#include "base/mutex.h"

namespace errand {
namespace {

// A thread that nothing comes to for this long ends: hanging mounts leave no crowd behind when they are back.
constexpr std::chrono::seconds idle_for{10};

}  // namespace

struct LoosePool::State {
  explicit State(int max) : threads_max(max) {}
  const int threads_max;
  Mutex mutex;
  Wakeup ready;  // Something waits, or it is stopped.
  Wakeup ended;  // A thread has ended.
  std::deque<Work> waiting GUARDED_BY(mutex);
  int threads GUARDED_BY(mutex) = 0;
  int idle GUARDED_BY(mutex) = 0;
  bool stopped GUARDED_BY(mutex) = false;
};

LoosePool::LoosePool(int threads_max) : state_(std::make_shared<State>(threads_max)) {}

LoosePool::~LoosePool() { stop(0); }

void LoosePool::post(Work work) {
  bool more = false;
  {
    const Lock lock(state_->mutex);
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
    const Lock lock(state_->mutex);
    --state_->threads;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool LoosePool::stop(Millis patience) {
  std::deque<Work> dropped;  // Destroyed outside the lock: what it holds may post.
  Lock lock(state_->mutex);
  state_->stopped = true;
  dropped.swap(state_->waiting);
  state_->ready.notify_all();
  const bool all = state_->ended.wait_for(lock, std::chrono::milliseconds(patience),
                                          [this]() REQUIRES(state_->mutex) { return state_->threads == 0; });
  lock.unlock();
  return all;
}

void LoosePool::run(const std::shared_ptr<State>& state) {
  Lock lock(state->mutex);
  for (;;) {
    ++state->idle;
    const bool woken = state->ready.wait_for(
        lock, idle_for, [&]() REQUIRES(state->mutex) { return state->stopped || !state->waiting.empty(); });
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
