#include <string>

#include "base/check.h"
#include "task/task.h"

namespace errand {

std::string broken_promise(const Task& task) {
  const bool rest = !at_work(task.state);
  if (task.id.empty() || task.session_id.empty()) return "a task has an id and a session";
  if (task.turn < 1 || task.attempt < 1 || task.run < 0) return "turn and attempt count from 1, runs from 0";
  if (!task.created_at || !task.queued_at) return "a task knows when it was made and queued";
  if (static_cast<bool>(task.completed_at) != rest) return "completed_at is set exactly at rest";
  if (task.deadline_at && (rest || task.phase == TurnPhase::queued)) return "a deadline is of a turn that has begun";
  if (task.phase == TurnPhase::working && task.run < 1) return "a turn at work has a run";
  if (task.error.has_value() != (task.state == TaskState::failed)) return "an error is set exactly where it failed";
  if (rest && !task.asks.empty()) return "a task at rest asks nobody";
  if (task.wait && (rest || task.stopping || task.phase != TurnPhase::working))
    return "only a turn that goes on waits for something";
  if (rest && task.phase == TurnPhase::queued) return "a task at rest is not in line";
  if (rest && (task.phase == TurnPhase::working) != task.stopping)
    return "at rest a turn works exactly while it is stopped";
  if (!rest && task.phase == TurnPhase::ended) return "a task at work has a turn that is queued or at work";
  if (!rest && task.stopping && !task.interrupting && task.restarts == 0)
    return "a task at work is stopped only for what follows";
  if (task.stopping && task.phase != TurnPhase::working) return "only a turn at work can be stopping";
  if (task.interrupting && !(task.stopping && !rest)) return "an interrupted turn is being stopped";
  switch (task.state) {
    case TaskState::pending:
      if (task.phase != TurnPhase::queued) return "pending is in line";
      if (task.stopping) return "pending has nothing to stop";
      break;
    case TaskState::running:
      if (task.phase != TurnPhase::working || !task.started_at) return "running is at work";
      break;
    case TaskState::resumed:
      if (task.turn < 2 || task.resume_count < 1) return "resumed is a further turn";
      break;
    case TaskState::completed:
      if (task.reason != "finished" || task.stopping) return "completed has finished and left nothing";
      for (const WaitingMessage& message : task.waiting)
        if (!message.notice || message.taken) return "completed has no message waiting but notices";
      break;
    case TaskState::failed:
      if (task.reason != task.error->code) return "the reason of a failure is its code";
      break;
    case TaskState::cancelled:
      if (!task.reason.starts_with("cancelled_by_")) return "cancelled says by whom";
      break;
  }
  return {};
}

void assert_task(const Task& task) {
  const std::string broken = broken_promise(task);
  ERRAND_CHECK(broken.empty(), broken.c_str());
}

}  // namespace errand
