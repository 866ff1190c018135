// Those who wait for tasks to come to rest.
#include "engine/engine_impl.h"

namespace errand {

uint64_t EngineImpl::wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) {
  const uint64_t key = ++last_waiter_;
  if (draining_) {
    answer_later(std::move(reply), busy_error());
    return key;
  }
  TaskWaiter waiter{.left = {ids.begin(), ids.end()}, .until = until, .reply = std::move(reply)};
  waiter.timer = timers_.add(ids.empty() ? 0 : block_ms, [this, key] {
    if (const auto due = task_waiters_.find(key); due != task_waiters_.end()) {
      Reply<void> late = std::move(due->second.reply);
      give_up(key);
      late({});
    }
  });
  for (const TaskId& id : waiter.left) waiting_for_task_[id].insert(key);
  const std::vector<TaskId> once(waiter.left.begin(), waiter.left.end());
  task_waiters_.emplace(key, std::move(waiter));
  schedule();
  // The waiter is there before they are read: one that comes to rest in between is not missed.
  for (const TaskId& id : once)
    get(id, [this, id, key](Result<TaskView> found) {
      if (!found || is_over(found->task)) waited_for(key, id);
    });
  return key;
}

void EngineImpl::give_up(uint64_t wait) {
  auto node = task_waiters_.extract(wait);
  if (node.empty()) return;
  timers_.cancel(node.mapped().timer);
  for (const TaskId& id : node.mapped().left) no_longer_waits(wait, id);
}

void EngineImpl::no_longer_waits(uint64_t key, const TaskId& id) {
  const auto waiting = waiting_for_task_.find(id);
  if (waiting == waiting_for_task_.end()) return;
  waiting->second.erase(key);
  if (waiting->second.empty()) waiting_for_task_.erase(waiting);
}

void EngineImpl::waited_for(uint64_t wait, const TaskId& id) {
  const auto found = task_waiters_.find(wait);
  if (found == task_waiters_.end()) return;
  TaskWaiter& waiter = found->second;
  if (waiter.until == Until::all && (waiter.left.size() > 1 || !waiter.left.contains(id))) {
    waiter.left.erase(id);
    no_longer_waits(wait, id);
    return;
  }
  Reply<void> reply = std::move(waiter.reply);
  give_up(wait);
  reply({});
}

void EngineImpl::answer_waiters(const TaskId& id, bool removed) {
  auto waiters = waiting_for_task_.extract(id);
  if (waiters.empty()) return;
  for (const uint64_t key : waiters.mapped()) {
    auto node = result_waiters_.extract(key);
    if (node.empty()) {
      waited_for(key, id);
      continue;
    }
    timers_.cancel(node.mapped().timer);
    // They read the result as everybody does.
    if (removed)
      node.mapped().reply(fail(Code::not_found, "The task was removed while you waited for it.", "deleted"));
    else
      result(id, 0, std::move(node.mapped().reply));
  }
}

}  // namespace errand
