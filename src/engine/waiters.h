// Waiters: those who wait until tasks come to rest, a batch is done, or a session has a notice. Each waits for a set of
// ids, until all (or the first) of them came, for a bounded time.
//
// A waiter is told exactly once: that it came, that the time is up, or that the server leaves; or never, where it gives
// up before. It is told inside the call or timer that it follows from, after it has left: it may wait again at once.
// Engine thread only. Nothing is stored: who waits asks again after a restart.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/timers.h"

namespace errand {

enum class Until : uint8_t { all, first };

// Why a waiter is told.
enum class Woken : uint8_t {
  came,       // What it waited for is there.
  gone,       // The last that it waited for was removed.
  time_up,    // Nothing came in time.
  dismissed,  // The server leaves. Whoever asked is to be answered later, not inside this call.
};

template <class Id>
class Waiters {
 public:
  using Key = uint64_t;  // Never 0, and never used twice.
  using Then = std::move_only_function<void(Woken)>;

  // `timers` outlive this.
  explicit Waiters(Timers& timers) : timers_(timers) {}
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // Waits from now on: what is there already is not known here. Look after this call, and tell by came(); then nothing
  // of the moment between is missed. Without ids the time is up at once (at the next timers).
  Key add(const std::vector<Id>& ids, Until until, Millis block_ms, Then then) {
    const Key key = ++last_key_;
    Waiter waiter{.left = {ids.begin(), ids.end()}, .until = until, .then = std::move(then)};
    waiter.timer = timers_.add(ids.empty() ? 0 : block_ms, [this, key] { tell(key, Woken::time_up); });
    for (const Id& id : waiter.left) by_id_[id].insert(key);
    waiters_.emplace(key, std::move(waiter));
    return key;
  }

  // It came (or is gone): all who wait for it hear of it.
  void wake(const Id& id, Woken why) {
    auto waiting = by_id_.extract(id);
    if (waiting.empty()) return;
    for (const Key key : waiting.mapped()) came(key, id, why);
  }
  // One waiter has found out by itself that this one came. A waiter that has left is no error.
  void came(Key key, const Id& id, Woken why = Woken::came) {
    const auto found = waiters_.find(key);
    if (found == waiters_.end() || !found->second.left.contains(id)) return;
    if (found->second.until == Until::first || found->second.left.size() == 1) return tell(key, why);
    found->second.left.erase(id);
    forget(key, id);
  }
  // It no longer waits, and is not told. False: it was told already.
  bool give_up(Key key) { return !take(key).empty(); }
  // The server leaves: everybody is told.
  void dismiss() {
    std::vector<Key> all;
    for (const auto& [key, waiter] : waiters_) all.push_back(key);
    for (const Key key : all) tell(key, Woken::dismissed);
  }

  size_t size() const { return waiters_.size(); }

 private:
  struct Waiter {
    std::unordered_set<Id> left;  // Of these it waits for all, or for the first.
    Until until = Until::all;
    Then then;
    Timers::Key timer = 0;
  };
  using Waiting = std::unordered_map<Key, Waiter>;

  typename Waiting::node_type take(Key key) {
    auto node = waiters_.extract(key);
    if (node.empty()) return node;
    timers_.cancel(node.mapped().timer);
    for (const Id& id : node.mapped().left) forget(key, id);
    return node;
  }
  void tell(Key key, Woken why) {
    if (auto node = take(key); !node.empty()) node.mapped().then(why);
  }
  void forget(Key key, const Id& id) {
    const auto waiting = by_id_.find(id);
    if (waiting == by_id_.end()) return;
    waiting->second.erase(key);
    if (waiting->second.empty()) by_id_.erase(waiting);
  }

  Timers& timers_;
  Key last_key_ = 0;
  Waiting waiters_;
  std::unordered_map<Id, std::unordered_set<Key>> by_id_;
};

}  // namespace errand
