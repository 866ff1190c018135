// What callers ask of a batch: the tasks that share a batch id (R7).
#include <utility>

#include "engine/task_calls.h"

namespace errand {

void TaskCalls::batch(BatchId id, Reply<BatchCounts> reply) {
  shared_.read([id](Store& store) { return store.batch_counts(id); },
               [id, reply = std::move(reply)](Result<BatchCounts> counts) mutable {
                 if (counts && counts->total() == 0) return reply(no_batch(id));
                 reply(std::move(counts));
               });
}

void TaskCalls::wait_batch(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) {
  // A batch that is not blocked for is only read.
  if (block_ms <= 0) return batch(std::move(id), std::move(reply));
  if (batches_.knows(id)) return wait_known_batch(id, until, block_ms, std::move(reply));
  shared_.read([id](Store& store) { return read_batch(store, id); },
               [this, id, until, block_ms, reply = std::move(reply)](Result<StoredBatch> stored) mutable {
                 if (!stored) return reply(std::unexpected(stored.error()));
                 batches_.add(id, std::move(*stored));
                 wait_known_batch(id, until, block_ms, std::move(reply));
               });
}

void TaskCalls::wait_known_batch(const BatchId& id, Until until, Millis block_ms, Reply<BatchCounts> reply) {
  if (shared_.draining) return shared_.answer_later(std::move(reply), commits_.refusal());
  if (batches_.stored(id)->total() == 0) {
    batches_.let_go(id);
    return shared_.answer_later(std::move(reply), no_batch(id));
  }
  auto& waiters = until == Until::first ? first_waiters_ : all_waiters_;
  waiters.add({id}, Until::all, block_ms, [this, id, reply = std::move(reply)](Woken why) mutable {
    if (why == Woken::dismissed) return shared_.answer_later(std::move(reply), commits_.refusal());
    const std::optional<BatchCounts> counts = why == Woken::time_up ? std::nullopt : batches_.stored(id);
    if (counts) return reply(*counts);
    batch(id, std::move(reply));
  });
  shared_.schedule();
  // Its tasks may be at rest already.
  shared_.later([this, id] { wake_batch(id); });
}

void TaskCalls::wake_batch(const BatchId& id) {
  const std::optional<BatchCounts> stored = batches_.stored(id);
  if (!stored) return;
  const int64_t working = stored->working();
  // Of a batch whose tasks were all removed, nothing is left to wait for.
  if (working == 0) all_waiters_.wake(id, Woken::came);
  if (working == 0 || working < stored->total()) first_waiters_.wake(id, Woken::came);
  batches_.let_go(id);
}

void TaskCalls::cancel_batch(BatchId id, std::string by, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::pending, TaskState::running, TaskState::resumed};
  each_.act_on(
      filter,
      [this, by](const TaskId& task, Each::Done done) {
        cancel(task, by, [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void TaskCalls::retry_batch(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::failed};
  each_.act_on(
      filter,
      [this](const TaskId& task, Each::Done done) {
        retry(task, {}, [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void TaskCalls::remove_batch(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  each_.act_on(
      filter,
      [this](const TaskId& task, Each::Done done) {
        remove(task, Gone::deleted, [done = std::move(done)](Result<void> gone) mutable { done(gone.has_value()); });
      },
      std::move(reply));
}

}  // namespace errand
