#include "base/timers.h"

#include <algorithm>

namespace errand {

Timers::Key TimerQueue::add(Millis delay_ms, Work work) {
  const Key key = ++last_key_;
  const Time due = clock_.steady() + std::max<Millis>(delay_ms, 0);
  const bool earliest = by_due_.empty() || due < by_due_.begin()->first.first;
  by_due_.emplace(std::pair(due, key), std::move(work));
  due_.emplace(key, due);
  if (earliest && earlier_) earlier_(due);
  return key;
}

void TimerQueue::cancel(Key key) {
  const auto it = due_.find(key);
  if (it == due_.end()) return;
  by_due_.erase({it->second, key});
  due_.erase(it);
}

Time TimerQueue::next_due() const { return by_due_.empty() ? Time{} : by_due_.begin()->first.first; }

int TimerQueue::run_due() {
  const Time now = clock_.steady();
  const Key last_at_start = last_key_;
  int ran = 0;
  // Looked up again each time: what runs may cancel others. Newer keys are left for the next call.
  for (auto it = by_due_.begin(); it != by_due_.end() && it->first.first <= now;) {
    if (it->first.second > last_at_start) {
      ++it;
      continue;
    }
    const auto [due, key] = it->first;
    Work work = std::move(it->second);
    due_.erase(key);
    by_due_.erase(it);
    ++ran;
    work();
    it = by_due_.begin();
  }
  return ran;
}

}  // namespace errand
