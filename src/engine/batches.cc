// Batches: the tasks that share a batch id (R7).
#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {
constexpr int batch_page = 200;
constexpr size_t batches_kept = 10'000;

BatchFailure failure_of(const Task& task) {
  const TaskError error = task.error.value_or(TaskError{});
  return {.title = std::string(first_characters(task.title, 80)),
          .code = error.code,
          .message = std::string(first_characters(first_line(error.message), 200))};
}

}  // namespace

std::unexpected<Error> no_batch(const BatchId& id) {
  return fail(Code::not_found,
              fmt::format("There is no batch \"{}\", or all of its tasks were removed; the `batch_id` of a task says "
                          "where it belongs.",
                          id.value),
              "unknown_batch");
}

Result<StoredBatch> read_batch(Store& store, const BatchId& id) {
  const Result<BatchCounts> counts = store.batch_counts(id);
  if (!counts) return std::unexpected(counts.error());
  StoredBatch batch{.counts = *counts, .failures = {}};
  if (counts->by_state[std::to_underlying(TaskState::failed)] == 0) return batch;
  const Result<TaskPage> failed = store.list({.states = {TaskState::failed}, .batch_id = id},
                                             {.limit = static_cast<int>(batch_failures_max), .sort = Sort::oldest});
  if (!failed) return std::unexpected(failed.error());
  for (const Task& task : failed->tasks) batch.failures.emplace(task.id, failure_of(task));
  return batch;
}

// It failed, or it works again.
void EngineImpl::note_failure(const Task& task) {
  const auto batch = batches_.find(task.launch.batch_id);
  if (batch == batches_.end()) return;
  BatchFailures& failures = batch->second.failures;
  if (task.state != TaskState::failed)
    failures.erase(task.id);
  else if (failures.size() < batch_failures_max)
    failures.insert_or_assign(task.id, failure_of(task));
}

// All of the batch are at rest: what became of them, and which of them failed.
Notice EngineImpl::whole_batch_notice(const Task& last, const Batch& batch, Time now) {
  Notice notice = batch_notice(last, batch.counts, ids_.notice(), now);
  std::string failures;
  JsonOut out(failures);
  out.array();
  for (const auto& [id, failure] : batch.failures) {
    notice.text +=
        fmt::format("\n- Failed: {} \"{}\" ({}): {}", id.value, failure.title, failure.code, failure.message);
    out.object().field("task_id", id).field("title", failure.title);
    out.field("code", failure.code).field("message", failure.message).end();
  }
  out.end();
  const int64_t more =
      batch.counts.by_state[std::to_underlying(TaskState::failed)] - static_cast<int64_t>(batch.failures.size());
  if (more > 0) notice.text += fmt::format("\n- Failed: {} more", more);
  notice.data.insert(notice.data.size() - 1, ",\"failures\":" + failures);
  return notice;
}

// The counts of a batch with a task at work are in memory; others are read when they are needed.
void EngineImpl::with_batch(const BatchId& id, std::move_only_function<void(Status)> then) {
  if (batches_.contains(id)) return then({});
  read([id](Store& store) { return read_batch(store, id); },
       [this, id, then = std::move(then)](Result<StoredBatch> stored) mutable {
         if (!stored) return then(std::unexpected(stored.error()));
         // Somebody else may have read it meanwhile, and counted on.
         batches_.try_emplace(id, std::move(*stored));
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
  if (block_ms <= 0) return this->batch(std::move(id), std::move(reply));
  with_batch(id, [this, id, until, block_ms, reply = std::move(reply)](Status known) mutable {
    if (!known) return reply(std::unexpected(known.error()));
    if (draining_) return answer_later(std::move(reply), busy_error());
    Batch& batch = batches_[id];
    if (batch.stored.total() == 0) {
      if (batch.counts.total() == 0 && batch.wait_all.empty() && batch.wait_first.empty()) batches_.erase(id);
      return answer_later(std::move(reply), no_batch(id));
    }
    const uint64_t key = ++last_waiter_;
    BatchWaiter& waiter = (until == Until::first ? batch.wait_first : batch.wait_all)[key];
    waiter.reply = std::move(reply);
    waiter.timer = timers_.add(block_ms, [this, id, key] {
      const auto known = batches_.find(id);
      if (known == batches_.end()) return;
      for (auto* waiters : {&known->second.wait_all, &known->second.wait_first})
        if (auto due = waiters->extract(key); !due.empty()) return this->batch(id, std::move(due.mapped().reply));
    });
    schedule();
    // Its tasks may be at rest already.
    parts_.loop.post([this, alive = std::weak_ptr(alive_), id] {
      if (!alive.expired()) check_batch_waiters(id);
    });
  });
}

void EngineImpl::check_batch_waiters(const BatchId& id) {
  const auto known = batches_.find(id);
  if (known == batches_.end()) return;
  Batch& batch = known->second;
  const int64_t working = batch.stored.working();
  std::vector<Reply<BatchCounts>> ready;
  const auto due = [&](std::unordered_map<uint64_t, BatchWaiter>& waiters) {
    for (auto& [key, waiter] : std::exchange(waiters, {})) {
      timers_.cancel(waiter.timer);
      ready.push_back(std::move(waiter.reply));
    }
  };
  // Of a batch whose tasks were all removed, nothing is left to wait for.
  if (working == 0) due(batch.wait_all);
  if (working == 0 || working < batch.stored.total()) due(batch.wait_first);
  const BatchCounts counts = batch.stored;
  // Forgetting is only to bound the memory: an entry that stays cannot be counted wrong.
  const bool moves = batch.stopping > 0 || batch.begins > 0 || batch.comes_to_rest > 0 || !batch.held.empty();
  if (batches_.size() > batches_kept && working == 0 && batch.wait_all.empty() && !moves) batches_.erase(known);
  for (Reply<BatchCounts>& reply : ready) reply(counts);
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
