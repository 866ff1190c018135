// Those who wait for tasks to be over, and those who want their results (tasks.h: wait, result).
//
// Waiting marks nothing. The first reading of a result is marked, and the mark is stored before the answer. Nobody who
// waits is stored: who waits asks again after a restart. Engine thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/commits.h"
#include "engine/lives.h"
#include "engine/shared.h"
#include "engine/tasks.h"
#include "engine/views.h"
#include "engine/waiters.h"

namespace errand {

class TaskWaits {
 public:
  // All outlive this.
  TaskWaits(Shared& shared, const Commits& commits, Lives& lives, const Views& views)
      : shared_(shared), commits_(commits), lives_(lives), views_(views), waiters_(shared.timers) {}

  // As in tasks.h.
  void result(TaskId id, Millis block_ms, Reply<ResultView> reply);
  uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply);
  void give_up(uint64_t wait) { waiters_.give_up(wait); }

  // The task is over, or gone: those who wait for it are answered.
  void wake(const TaskId& id, Woken why) { waiters_.wake(id, why); }
  // The server leaves: everybody who waits is answered.
  void dismiss() { waiters_.dismiss(); }

 private:
  void read_result(const TaskId& id, TaskView found, Reply<ResultView> reply);
  void wait_for_result(const TaskId& id, Millis block_ms, Reply<ResultView> reply);
  void result_woken(const TaskId& id, Woken why, Reply<ResultView> reply);

  Shared& shared_;
  const Commits& commits_;
  Lives& lives_;
  const Views& views_;
  Waiters<TaskId> waiters_;
};

}  // namespace errand
