// What callers may ask of tasks and batches (tasks.h): task_calls.cc of one task, batch_calls.cc of a batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/agents.h"
#include "engine/batches.h"
#include "engine/commits.h"
#include "engine/each.h"
#include "engine/launching.h"
#include "engine/lives.h"
#include "engine/removal.h"
#include "engine/shared.h"
#include "engine/tasks.h"
#include "engine/views.h"
#include "engine/waiters.h"

namespace errand {

class TaskCalls final : public Tasks {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Lives& lives;
    Batches& batches;
    const Agents& agents;
    Launching& launching;
    Removal& removal;
    Each& each;
    const Views& views;
  };
  explicit TaskCalls(Rooms rooms);

  void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) override;
  void get(TaskId id, Reply<TaskView> reply) override;
  void cancel(TaskId id, std::string by, Reply<TaskView> reply) override;
  void retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) override;
  void message(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void answer(TaskId id, input::Answered answer, Reply<TaskView> reply) override;
  void remove(TaskId id, Gone why, Reply<void> reply) override;
  void clear(Scope scope, Reply<Cleared> reply) override;
  void result(TaskId id, Millis block_ms, Reply<ResultView> reply) override;
  uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) override;
  void give_up(uint64_t wait) override { waiters_.give_up(wait); }
  void resolve(std::string text, Reply<TaskId> reply) override;
  TaskMoment moment(const Task& task) const override { return views_.moment(task); }
  Driver* driver_of(const Task& task) const override { return agents_.driver_of(task); }

  void batch(BatchId id, Reply<BatchCounts> reply) override;
  void wait_batch(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) override;
  void cancel_batch(BatchId id, std::string by, Reply<int64_t> reply) override;
  void retry_batch(BatchId id, Reply<int64_t> reply) override;
  void remove_batch(BatchId id, Reply<int64_t> reply) override;

  // The task is over, or gone: those who wait for it are answered.
  void wake(const TaskId& id, Woken why) { waiters_.wake(id, why); }
  // The counts of the batch have changed, durably: those who wait for that are answered.
  void wake_batch(const BatchId& id);
  // The server leaves: everybody who waits is answered.
  void dismiss();

 private:
  void wait_known_batch(const BatchId& id, Until until, Millis block_ms, Reply<BatchCounts> reply);
  void result_woken(const TaskId& id, Woken why, Reply<ResultView> reply);

  Shared& shared_;
  Commits& commits_;
  Lives& lives_;
  Batches& batches_;
  const Agents& agents_;
  Launching& launching_;
  Removal& removal_;
  Each& each_;
  const Views& views_;
  Waiters<TaskId> waiters_;         // For tasks, and for their results.
  Waiters<BatchId> all_waiters_;    // For all of a batch,
  Waiters<BatchId> first_waiters_;  // or the first of it.
};

}  // namespace errand
