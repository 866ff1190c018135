// The engine's face for whoever asks what a task changed, and decides about it. Calls and answers as in tasks.h.
#pragma once

#include "base/id.h"
#include "driver/changes.h"
#include "engine/task_view.h"

namespace errand {

struct ChangesReply {
  TaskView view;  // With what the answer said of its work tree.
  ChangesAnswer answer;
};

class TaskChanges {
 public:
  virtual ~TaskChanges() = default;
  // A refusal that the keeper of the changes gave is an answer (ChangesAnswer::refused), not an error. Errors:
  // not_found; conflict, reason `at_work`, for what decides about a task at work; unsupported where this server keeps
  // no changes; unavailable and exhausted.
  virtual void ask(TaskId id, ChangesAsk ask, Reply<ChangesReply> reply) = 0;
};

}  // namespace errand
