// What callers may ask of a batch (task_batches.h). Counting is the business of Batches; this reads, waits, and acts on
// each of a batch's tasks as a caller would. Engine thread only.
#pragma once

#include <string>

#include "engine/batches.h"
#include "engine/commits.h"
#include "engine/each.h"
#include "engine/shared.h"
#include "engine/task_batches.h"
#include "engine/tasks.h"
#include "engine/waiters.h"

namespace errand {

class BatchCalls final : public TaskBatches {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Batches& batches;
    Each& each;
    Tasks& tasks;
  };
  explicit BatchCalls(Rooms rooms)
      : rooms_(rooms), shared_(rooms.shared), all_waiters_(shared_.timers), first_waiters_(shared_.timers) {}

  void get(BatchId id, Reply<BatchCounts> reply) override;
  void wait(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) override;
  void cancel(BatchId id, std::string by, Reply<int64_t> reply) override;
  void retry(BatchId id, Reply<int64_t> reply) override;
  void remove(BatchId id, Reply<int64_t> reply) override;

  // The counts of the batch have changed, durably: those who wait for that are answered.
  void wake(const BatchId& id);
  // The server leaves: everybody who waits is answered.
  void dismiss();

 private:
  void wait_known(const BatchId& id, Until until, Millis block_ms, Reply<BatchCounts> reply);

  Rooms rooms_;
  Shared& shared_;
  Waiters<BatchId> all_waiters_;    // For all of a batch,
  Waiters<BatchId> first_waiters_;  // or the first of it.
};

}  // namespace errand
