// Subtree: tasks that tasks launch: what they may do, how deep they go, and what ends with their parent (decision 12).
//
// Engine thread only, but is_orphaned.
#pragma once

#include <functional>

#include "engine/each.h"
#include "engine/lives.h"
#include "engine/parents.h"
#include "engine/purses.h"
#include "engine/shared.h"

namespace errand {

class Subtree {
 public:
  Subtree(Shared& shared, Lives& lives, const Purses& purses, const Parents& parents, Each& each)
      : shared_(shared), lives_(lives), purses_(purses), parents_(parents), each_(each) {}

  // Its parent session is not known to be a foreign program's: it has to be read what bounds this launch.
  bool may_be_bound(const Launch& launch) const;
  // Finds the task whose session the launch names as its parent, where there is one, and binds the launch by it: it may
  // do no more than its parent. `launch` lives until `then` is called: later, never inside this call. A session that
  // nobody knows is a foreign program's, and is made with its first task. Errors: not_found (`session_ended`),
  // forbidden
  // (`beyond_parent`, `too_deep`), conflict (the parent was cancelled), exhausted (`budget`).
  void bind(Launch& launch, std::move_only_function<void(Status)> then);
  // A cancel takes the tasks that the task launched, and theirs. What the server does not get to before it dies is
  // found when those begin or are taken up (is_orphaned).
  void cancel_children(const SessionId& session);

 private:
  Status bound_by(Launch& launch, const Task& parent) const;

  Shared& shared_;
  Lives& lives_;
  const Purses& purses_;
  const Parents& parents_;
  Each& each_;
};

// Its parent was cancelled, or is gone, and nobody has begun it anew since. Blocking; any reader thread.
Result<bool> is_orphaned(Store& store, const Task& task);

}  // namespace errand
