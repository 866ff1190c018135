// Timers: how drivers wait. A driver never sleeps and reads no clock of its own: it asks to be called later, so that
// tests and the simulator decide how time goes.
//
// Threads: the engine's thread only, in both directions.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/executor.h"
#include "base/time.h"

namespace errand {

class Timers {
 public:
  using Key = uint64_t;  // 0 names none.

  virtual ~Timers() = default;
  // Calls `work` once, not before `delay_ms` from now and never inside this call. Works of the same moment are called
  // in the order in which they were added.
  virtual Key add(Millis delay_ms, Work work) = 0;
  // `work` is not called any more. A key that has fired, or 0, is no error.
  virtual void cancel(Key key) = 0;
};

// One wait of one owner: set anew it replaces the earlier one; destroyed it is cancelled, so that no call can reach an
// owner that is gone.
class Timer {
 public:
  explicit Timer(Timers& timers) : timers_(timers) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(Millis delay_ms, Work work) {
    cancel();
    // `work` may destroy this Timer: nothing of it is touched after the call.
    key_ = timers_.add(delay_ms, [this, work = std::move(work)]() mutable {
      key_ = 0;
      work();
    });
  }
  void cancel() { timers_.cancel(std::exchange(key_, 0)); }
  bool pending() const { return key_ != 0; }

 private:
  Timers& timers_;
  Timers::Key key_ = 0;
};

// The timers of one thread, as a plain object: whoever owns the thread (main with its loop, a test, the simulator) asks
// when the next one is due and runs what is due by then.
class TimerQueue final : public Timers {
 public:
  explicit TimerQueue(Clock& clock) : clock_(clock) {}

  Key add(Millis delay_ms, Work work) override;
  void cancel(Key key) override;

  // When the earliest is due (steady time); never, where nothing waits.
  Time next_due() const;
  // Runs what is due, but nothing that was added meanwhile: work that adds itself again with no delay cannot keep the
  // thread. Returns how many it ran.
  int run_due();
  // Called (inside add) when a new timer is earlier than all others: the owner of the thread sleeps too long.
  void on_earlier(std::move_only_function<void(Time due)> earlier) { earlier_ = std::move(earlier); }
  size_t size() const { return by_due_.size(); }

 private:
  Clock& clock_;
  Key last_key_ = 0;
  std::map<std::pair<Time, Key>, Work> by_due_;
  std::map<Key, Time> due_;
  std::move_only_function<void(Time)> earlier_;
};

}  // namespace errand
