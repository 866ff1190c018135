// Shared: what all parts of the engine stand on: the clock, the timers, new ids, the settings, the store for reading,
// and the way back to the engine's thread. It knows no tasks.
//
// Engine thread only. Whatever runs elsewhere in between (a read of the store) knows nothing of the engine, and what it
// brings back is dropped where the engine is gone.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "base/timers.h"
#include "engine/backlog.h"
#include "engine/engine.h"
#include "store/store.h"

namespace errand {

// How long the engine waits where the store failed it, before it tries again what is its own business.
inline constexpr Millis store_retry_ms = 500;

class Shared {
 public:
  // The store, the executors, the clock and the random source of `parts` outlive this.
  Shared(const EngineParts& parts, EngineSettings with);
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Time wall() { return clock.wall(); }
  Time steady() { return clock.steady(); }

  // Something is to be done: there is a tick soon, one however often this is called before it.
  void schedule();
  // What a tick does.
  void on_tick(std::function<void()> tick) { tick_ = std::move(tick); }

  // Runs `work` on the engine's thread, later, never inside this call; not at all where the engine is gone by then.
  void later(Work work);
  // Runs `read` on a reader thread and `then` with its result on the engine's. The store and the loop outlive the
  // engine; a read that was posted may too, so it knows nothing of the engine itself.
  template <class Read, class Then>
  void read(Read read, Then then) {
    readers.post([&store = store, &loop = loop, alive = std::weak_ptr(alive_), read = std::move(read),
                  then = std::move(then)]() mutable {
      auto result = std::make_shared<decltype(read(store))>(read(store));
      loop.post([alive, result, then = std::move(then)]() mutable {
        if (!alive.expired()) then(std::move(*result));
      });
    });
  }
  // A call is answered later, never inside it: also where there is nothing to wait for.
  template <class T>
  void answer_later(Reply<T> reply, std::unexpected<Error> error) {
    later([reply = std::move(reply), error = std::move(error)]() mutable { reply(std::move(error)); });
  }
  // Expired once the engine is gone: for callbacks that somebody else keeps.
  std::weak_ptr<char> alive() const { return alive_; }

  // --- fixed after construction
  Store& store;
  Executor& loop;
  Executor& readers;
  Clock& clock;
  const EngineFaults faults;
  // All that waits to be stored; of it, what turns have reported.
  const std::shared_ptr<Backlog> backlog = std::make_shared<Backlog>();
  const std::shared_ptr<Backlog> reports_backlog = std::make_shared<Backlog>(backlog);

  // --- in memory only
  IdSource ids;
  TimerQueue timers;
  EngineSettings settings;
  bool recovering = false;  // Nothing is begun yet.
  bool draining = false;    // Nothing is begun or taken any more.

 private:
  std::function<void()> tick_;
  bool tick_posted_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace errand
