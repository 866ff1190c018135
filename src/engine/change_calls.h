// ChangeCalls: what a task changed is asked of whoever keeps it, and what that says of the task's own work tree is
// stored before anybody is told. Engine thread only.
#pragma once

#include "engine/commits.h"
#include "engine/lives.h"
#include "engine/shared.h"
#include "engine/task_changes.h"
#include "engine/views.h"

namespace errand {

class ChangeCalls final : public TaskChanges {
 public:
  // All outlive this. Without `changes` every call is refused.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Lives& lives;
    const Views& views;
  };
  ChangeCalls(Rooms rooms, Changes* changes) : rooms_(rooms), changes_(changes) {}

  void ask(TaskId id, ChangesAsk ask, Reply<ChangesReply> reply) override;
  // After a start.
  void take_up();

 private:
  void move(std::shared_ptr<const Task> task, ChangesAsk ask, Reply<ChangesReply> reply);
  void ask(std::shared_ptr<const Task> task, ChangesAsk ask, Reply<ChangesReply> reply);
  void answered(const TaskView& view, Result<ChangesAnswer> answer, Reply<ChangesReply> reply);

  Rooms rooms_;
  Changes* changes_;
};

}  // namespace errand
