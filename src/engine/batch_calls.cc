#include "engine/batch_calls.h"

#include <utility>

namespace errand {

void BatchCalls::get(BatchId id, Reply<BatchCounts> reply) {
  shared_.read([id](Store& store) { return store.batch_counts(id); },
               [id, reply = std::move(reply)](Result<BatchCounts> counts) mutable {
                 if (counts && counts->total() == 0) return reply(no_batch(id));
                 reply(std::move(counts));
               });
}

void BatchCalls::wait(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) {
  // A batch that is not blocked for is only read.
  if (block_ms <= 0) return get(std::move(id), std::move(reply));
  if (rooms_.batches.knows(id)) return wait_known(id, until, block_ms, std::move(reply));
  shared_.read([id](Store& store) { return read_batch(store, id); },
               [this, id, until, block_ms, reply = std::move(reply)](Result<StoredBatch> stored) mutable {
                 if (!stored) return reply(std::unexpected(stored.error()));
                 rooms_.batches.add(id, std::move(*stored));
                 wait_known(id, until, block_ms, std::move(reply));
               });
}

void BatchCalls::wait_known(const BatchId& id, Until until, Millis block_ms, Reply<BatchCounts> reply) {
  if (shared_.draining) return shared_.answer_later(std::move(reply), rooms_.commits.refusal());
  if (rooms_.batches.stored(id)->total() == 0) {
    rooms_.batches.let_go(id);
    return shared_.answer_later(std::move(reply), no_batch(id));
  }
  auto& waiters = until == Until::first ? first_waiters_ : all_waiters_;
  waiters.add({id}, Until::all, block_ms, [this, id, reply = std::move(reply)](Woken why) mutable {
    if (why == Woken::dismissed) return shared_.answer_later(std::move(reply), rooms_.commits.refusal());
    const std::optional<BatchCounts> counts = why == Woken::time_up ? std::nullopt : rooms_.batches.stored(id);
    if (counts) return reply(*counts);
    get(id, std::move(reply));
  });
  shared_.schedule();
  // Its tasks may be at rest already.
  shared_.later([this, id] { wake(id); });
}

void BatchCalls::wake(const BatchId& id) {
  const std::optional<BatchCounts> stored = rooms_.batches.stored(id);
  if (!stored) return;
  const int64_t working = stored->working();
  // Of a batch whose tasks were all removed, nothing is left to wait for.
  if (working == 0) all_waiters_.wake(id, Woken::came);
  if (working == 0 || working < stored->total()) first_waiters_.wake(id, Woken::came);
  rooms_.batches.let_go(id);
}

void BatchCalls::cancel(BatchId id, std::string by, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::pending, TaskState::running, TaskState::resumed};
  rooms_.each.act_on(
      filter,
      [this, by](const TaskId& task, Each::Done done) {
        rooms_.tasks.cancel(task, by,
                            [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void BatchCalls::retry(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::failed};
  rooms_.each.act_on(
      filter,
      [this](const TaskId& task, Each::Done done) {
        rooms_.tasks.retry(task, {},
                           [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void BatchCalls::remove(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  rooms_.each.act_on(
      filter,
      [this](const TaskId& task, Each::Done done) {
        rooms_.tasks.remove(task, Gone::deleted,
                            [done = std::move(done)](Result<void> gone) mutable { done(gone.has_value()); });
      },
      std::move(reply));
}

void BatchCalls::dismiss() {
  all_waiters_.dismiss();
  first_waiters_.dismiss();
}

}  // namespace errand
