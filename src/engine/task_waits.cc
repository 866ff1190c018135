#include "engine/task_waits.h"

#include <algorithm>
#include <utility>

namespace errand {

void TaskWaits::result(TaskId id, Millis block_ms, Reply<ResultView> reply) {
  views_.get(id, [this, id, block_ms, reply = std::move(reply)](Result<TaskView> found) mutable {
    if (!found) return reply(std::unexpected(found.error()));
    // Who waits for a task that is being stopped gets all that it left.
    if (is_over(found->task) || (block_ms <= 0 && !at_work(found->task.state)))
      return read_result(id, std::move(*found), std::move(reply));
    if (block_ms <= 0) return reply(ResultView{std::move(*found), false});
    wait_for_result(id, block_ms, std::move(reply));
  });
}

// The first reading is marked, and the mark is stored before the answer.
void TaskWaits::read_result(const TaskId& id, TaskView found, Reply<ResultView> reply) {
  if (found.task.retrieved_at) return reply(ResultView{std::move(found), false});
  Action action{.input = input::Retrieved{}};
  action.reply = [this, id, reply = std::move(reply)](Result<TaskPtr> after) mutable {
    if (!after) return reply(std::unexpected(after.error()));
    // It was resumed and came to rest again meanwhile: this result is another one, and not marked yet.
    if (!at_work((*after)->state) && !(*after)->retrieved_at) return result(id, 0, std::move(reply));
    reply(ResultView{views_.of(std::move(*after)), false});
  };
  lives_.submit(id, std::move(action));
}

void TaskWaits::wait_for_result(const TaskId& id, Millis block_ms, Reply<ResultView> reply) {
  if (shared_.draining) return reply(commits_.refusal());
  // It may have come to rest since it was read; then nobody would wake the waiter.
  const LivePtr live = lives_.find(id);
  if (live && live->task && is_over(*live->task)) return result(id, 0, std::move(reply));
  const auto key = waiters_.add({id}, Until::all, block_ms, [this, id, reply = std::move(reply)](Woken why) mutable {
    result_woken(id, why, std::move(reply));
  });
  shared_.schedule();
  // Not in memory: in line, or at rest since it was read. Now that the waiter is there, a second look tells.
  if (!live)
    views_.get(id, [this, id, key](Result<TaskView> again) {
      if (!again || is_over(again->task)) waiters_.came(key, id);
    });
}

// They read the result as everybody does.
void TaskWaits::result_woken(const TaskId& id, Woken why, Reply<ResultView> reply) {
  if (why == Woken::dismissed) return shared_.answer_later(std::move(reply), commits_.refusal());
  if (why == Woken::gone)
    return reply(fail(Code::not_found, "The task was removed while you waited for it.", "deleted"));
  if (why == Woken::came) return result(id, 0, std::move(reply));
  result(id, 0, [reply = std::move(reply)](Result<ResultView> now) mutable {
    if (now) now->timed_out = at_work(now->view.task.state);
    reply(std::move(now));
  });
}

uint64_t TaskWaits::wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) {
  // Asked once of each, however often it is named.
  std::ranges::sort(ids);
  const auto twice = std::ranges::unique(ids);
  ids.erase(twice.begin(), twice.end());
  const uint64_t key = waiters_.add(ids, until, block_ms, [this, reply = std::move(reply)](Woken why) mutable {
    if (why == Woken::dismissed) return shared_.answer_later(std::move(reply), commits_.refusal());
    reply({});
  });
  if (shared_.draining) {
    waiters_.dismiss();
    return key;
  }
  shared_.schedule();
  // The waiter is there before they are read: one that comes to rest in between is not missed.
  for (const TaskId& id : ids)
    views_.get(id, [this, id, key](Result<TaskView> found) {
      if (!found || is_over(found->task)) waiters_.came(key, id);
    });
  return key;
}

}  // namespace errand
