// Batches: the tasks that share a batch id (R7).
#include <utility>

#include "engine/engine_impl.h"

namespace errand {
namespace {
constexpr int batch_page = 200;
}  // namespace

// The counts of a batch with a task at work are in memory; others are read when they are needed.
void EngineImpl::with_batch(const BatchId& id, std::move_only_function<void(Status)> then) {
  if (batches_.knows(id)) return then({});
  read([id](Store& store) { return read_batch(store, id); },
       [this, id, then = std::move(then)](Result<StoredBatch> stored) mutable {
         if (!stored) return then(std::unexpected(stored.error()));
         // Somebody else may have read it meanwhile, and counted on.
         batches_.add(id, std::move(*stored));
         then({});
       });
}

void EngineImpl::batch(BatchId id, Reply<BatchCounts> reply) {
  read([id](Store& store) { return store.batch_counts(id); },
       [id, reply = std::move(reply)](Result<BatchCounts> counts) mutable {
         if (counts && counts->total() == 0) return reply(no_batch(id));
         reply(std::move(counts));
       });
}

void EngineImpl::wait_batch(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) {
  // A batch that is not blocked for is only read.
  if (block_ms <= 0) return batch(std::move(id), std::move(reply));
  with_batch(id, [this, id, until, block_ms, reply = std::move(reply)](Status known) mutable {
    if (!known) return reply(std::unexpected(known.error()));
    if (draining_) return answer_later(std::move(reply), busy_error());
    if (batches_.stored(id)->total() == 0) {
      batches_.let_go(id);
      return answer_later(std::move(reply), no_batch(id));
    }
    auto& waiters = until == Until::first ? first_waiters_ : all_waiters_;
    waiters.add({id}, Until::all, block_ms, [this, id, reply = std::move(reply)](Woken why) mutable {
      if (why == Woken::dismissed) return answer_later(std::move(reply), busy_error());
      const std::optional<BatchCounts> counts = why == Woken::time_up ? std::nullopt : batches_.stored(id);
      if (counts) return reply(*counts);
      batch(id, std::move(reply));
    });
    schedule();
    // Its tasks may be at rest already.
    parts_.loop.post([this, alive = std::weak_ptr(alive_), id] {
      if (!alive.expired()) check_batch_waiters(id);
    });
  });
}

void EngineImpl::check_batch_waiters(const BatchId& id) {
  const std::optional<BatchCounts> stored = batches_.stored(id);
  if (!stored) return;
  const int64_t working = stored->working();
  // Of a batch whose tasks were all removed, nothing is left to wait for.
  if (working == 0) all_waiters_.wake(id, Woken::came);
  if (working == 0 || working < stored->total()) first_waiters_.wake(id, Woken::came);
  batches_.let_go(id);
}

void EngineImpl::act_on_each(std::vector<TaskId> ids, EachAct act, std::move_only_function<void(int64_t)> done) {
  if (ids.empty()) return done(0);
  const auto each = std::make_shared<Each>(std::move(ids), std::move(act), std::move(done));
  for (int i = 0; i < batch_page; ++i) act_on_next(each);
}

void EngineImpl::act_on_next(const std::shared_ptr<Each>& each) {
  if (each->next == each->ids.size()) return;
  const TaskId& id = each->ids[each->next++];
  each->act(id, [this, each](bool ok) {
    if (ok) ++each->acted;
    if (++each->ended == each->ids.size()) return each->done(each->acted);
    // Not inside: where each is answered at once, that would go as deep as the list is long.
    parts_.loop.post([this, alive = std::weak_ptr(alive_), each] {
      if (!alive.expired()) act_on_next(each);
    });
  });
}

// Acts on every task that the filter finds; answers on how many it could.
void EngineImpl::for_each_of(TaskFilter filter, EachAct act, Reply<int64_t> reply) {
  struct State {
    TaskFilter filter;
    EachAct act;
    Reply<int64_t> reply;
  };
  auto state = std::make_shared<State>(std::move(filter), std::move(act), std::move(reply));
  read(
      [filter = state->filter](Store& store) -> Result<std::vector<TaskId>> {
        std::vector<TaskId> ids;
        Page page{.limit = batch_page};
        for (;;) {
          Result<TaskPage> found = store.list(filter, page);
          if (!found) return std::unexpected(found.error());
          for (Task& task : found->tasks) ids.push_back(std::move(task.id));
          if (found->next_cursor.empty()) return ids;
          page.cursor = found->next_cursor;
        }
      },
      [this, state](Result<std::vector<TaskId>> ids) {
        if (!ids) return state->reply(std::unexpected(ids.error()));
        if (ids->empty() && !state->filter.batch_id.empty())
          return batch(state->filter.batch_id, [state](Result<BatchCounts> known) {
            // None was left to act on; or the id is wrong, and that must not look like done.
            if (!known) return state->reply(std::unexpected(known.error()));
            state->reply(0);
          });
        act_on_each(std::move(*ids), state->act, [state](int64_t acted) { state->reply(acted); });
      });
}

void EngineImpl::cancel_batch(BatchId id, std::string by, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::pending, TaskState::running, TaskState::resumed};
  for_each_of(
      filter,
      [this, by](const TaskId& task, EachDone done) {
        cancel(task, by, [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void EngineImpl::retry_batch(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  filter.states = {TaskState::failed};
  for_each_of(
      filter,
      [this](const TaskId& task, EachDone done) {
        retry(task, {}, [done = std::move(done)](Result<TaskView> view) mutable { done(view.has_value()); });
      },
      std::move(reply));
}

void EngineImpl::remove_batch(BatchId id, Reply<int64_t> reply) {
  TaskFilter filter;
  filter.batch_id = id;
  for_each_of(
      filter,
      [this](const TaskId& task, EachDone done) {
        remove(task, Gone::deleted, [done = std::move(done)](Result<void> gone) mutable { done(gone.has_value()); });
      },
      std::move(reply));
}

}  // namespace errand
