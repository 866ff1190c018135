// Removal: tasks go, with all that they launched. The rows go at once; what runs is ended behind them (Turns).
//
// Engine thread only. Answers come when what they say is durable.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/each.h"
#include "engine/lives.h"
#include "engine/shared.h"
#include "engine/tasks.h"

namespace errand {

class Removal {
 public:
  Removal(Shared& shared, Lives& lives, Each& each) : shared_(shared), lives_(lives), each_(each) {}

  // Of tasks at work too, or not (`only_at_rest`: conflict). The tasks that it launched go first, at work or not: their
  // parent session is the task's own and ends with it.
  void remove_tree(TaskId id, Gone why, bool only_at_rest, Reply<void> reply);
  // Each of them as above. Answers how many were removed; or why one could not be, though it is there (and, for
  // `only_at_rest`, is at rest).
  void remove_each(std::vector<TaskId> ids, Gone why, bool only_at_rest, Reply<int64_t> reply);
  // What was launched under a task while it was being removed goes behind it.
  void remove_stragglers(const SessionId& session);
  // All of the scope that is at rest, a page at a time.
  void clear(const Tasks::Scope& scope, Reply<Cleared> reply);

 private:
  struct Clearing;
  void clear_page(const std::shared_ptr<Clearing>& clearing);
  void count_left(const std::shared_ptr<Clearing>& clearing);

  Shared& shared_;
  Lives& lives_;
  Each& each_;
};

}  // namespace errand
