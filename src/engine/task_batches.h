// The engine's face for whoever works with batches: the tasks that share a batch id (R7).
//
// Every call is made on the engine's thread and answers later, on the same thread, never inside the call. What it
// answers is durable. Errors beside those of tasks.h: not_found, reason `unknown_batch`, where it has no tasks.
#pragma once

#include <cstdint>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "engine/task_view.h"
#include "engine/waiters.h"
#include "store/store.h"

namespace errand {

class TaskBatches {
 public:
  virtual ~TaskBatches() = default;

  // How many of its tasks are in which state, as it is stored.
  virtual void get(BatchId id, Reply<BatchCounts> reply) = 0;
  // Answers when all (or the first) of its tasks are at rest, or the time is up, which is no error.
  virtual void wait(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) = 0;
  // --- each of its tasks as the call of the same name in tasks.h; they answer with how many that was, when the last is
  // stored. One that is refused (it came to rest meanwhile) is not counted, and the others go on.
  virtual void cancel(BatchId id, std::string by, Reply<int64_t> reply) = 0;
  virtual void retry(BatchId id, Reply<int64_t> reply) = 0;  // The failed ones.
  virtual void remove(BatchId id, Reply<int64_t> reply) = 0;
};

}  // namespace errand
