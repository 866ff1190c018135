// Those who wait for tasks to come to rest.
#include <algorithm>

#include "engine/engine_impl.h"

namespace errand {

uint64_t EngineImpl::wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) {
  // Asked once of each, however often it is named.
  std::ranges::sort(ids);
  const auto twice = std::ranges::unique(ids);
  ids.erase(twice.begin(), twice.end());
  const uint64_t key = waiters_.add(ids, until, block_ms, [this, reply = std::move(reply)](Woken why) mutable {
    if (why == Woken::dismissed) return answer_later(std::move(reply), busy_error());
    reply({});
  });
  if (draining_) {
    waiters_.dismiss();
    return key;
  }
  schedule();
  // The waiter is there before they are read: one that comes to rest in between is not missed.
  for (const TaskId& id : ids)
    get(id, [this, id, key](Result<TaskView> found) {
      if (!found || is_over(found->task)) waiters_.came(key, id);
    });
  return key;
}

void EngineImpl::give_up(uint64_t wait) { waiters_.give_up(wait); }

void EngineImpl::answer_waiters(const TaskId& id, Woken why) { waiters_.wake(id, why); }

}  // namespace errand
