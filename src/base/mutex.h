// A mutex that clang knows: fields say which one guards them (GUARDED_BY), functions which one their caller holds
// (REQUIRES), and -Wthread-safety refuses what keeps neither. The standard library's mutex does not tell clang when it
// is held, so this wraps it. Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#define ERRAND_THREAD(x) __attribute__((x))
#define GUARDED_BY(mutex) ERRAND_THREAD(guarded_by(mutex))
#define REQUIRES(mutex) ERRAND_THREAD(requires_capability(mutex))
#define UNCHECKED_LOCKS ERRAND_THREAD(no_thread_safety_analysis)

namespace errand {

class ERRAND_THREAD(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class Lock;
  std::mutex mutex_;
};

// Holds a mutex to the end of the scope; may let it go in between.
class ERRAND_THREAD(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) ERRAND_THREAD(acquire_capability(mutex)) : lock_(mutex.mutex_) {}
  ~Lock() ERRAND_THREAD(release_capability()) = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void unlock() ERRAND_THREAD(release_capability()) { lock_.unlock(); }
  void lock() ERRAND_THREAD(acquire_capability()) { lock_.lock(); }

 private:
  friend class Wakeup;
  std::unique_lock<std::mutex> lock_;
};

// Waits for what others say about fields behind the mutex of a lock. `ready` is called with that mutex held: a lambda
// that reads such fields says REQUIRES(mutex) itself.
class Wakeup {
 public:
  template <class Ready>
  void wait(Lock& lock, Ready ready) UNCHECKED_LOCKS {
    changed_.wait(lock.lock_, ready);
  }
  // False: the time is up, and it is not ready.
  template <class Span, class Ready>
  bool wait_for(Lock& lock, Span span, Ready ready) UNCHECKED_LOCKS {
    return changed_.wait_for(lock.lock_, span, ready);
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace errand
