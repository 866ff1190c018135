// What callers may ask of attempts (task_attempts.h): rows of calls that any caller could make one by one. Nothing is
// kept here: what attempts and their tests are is stored with them. Engine thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/agents.h"
#include "engine/commits.h"
#include "engine/launching.h"
#include "engine/looks.h"
#include "engine/shared.h"
#include "engine/task_attempts.h"
#include "engine/tasks.h"
#include "engine/views.h"

namespace errand {

class AttemptCalls final : public TaskAttempts {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    const Agents& agents;
    Looks& looks;
    Launching& launching;
    const Views& views;
    Tasks& tasks;
    TaskChanges& changes;
  };
  explicit AttemptCalls(Rooms rooms) : rooms_(rooms) {}

  void launch(std::vector<NewAttempt> attempts, Reply<std::vector<TaskView>> reply) override;
  void compare(BatchId id, Reply<std::vector<ComparedAttempt>> reply) override;
  void test(BatchId id, Launch command, Reply<TestsBegun> reply) override;
  void choose(TaskId id, ChangesAsk merge, Reply<Chosen> reply) override;

 private:
  // A batch as it is stored.
  struct Family {
    std::vector<TaskPtr> attempts;  // Oldest first.
    std::vector<TaskPtr> tests;     // Of each attempt the newest, in the same order; null: none.
  };
  // Launches that are stored one after the other.
  struct Row {
    std::vector<NewAttempt> launches;
    std::vector<TaskView> made;
    Reply<std::vector<TaskView>> reply;
  };
  using RowPtr = std::shared_ptr<Row>;
  // Tests on their way.
  struct Held {
    BatchId batch;
    RowPtr row;
    std::vector<NotDone> left;
    Reply<TestsBegun> reply;
    size_t held = 0;  // Of the row: their attempts' ends are kept.
  };
  // A choice on its way.
  struct Choice {
    Chosen chosen;
    std::vector<TaskId> others;
    size_t next = 0;
    Reply<Chosen> reply;
  };

  static Result<Family> read_family(Store& store, const BatchId& batch);
  void read(const BatchId& batch, Reply<Family> reply);
  void check_next(const RowPtr& row, size_t index);
  void check_folder(const RowPtr& row);
  void launch_next(const RowPtr& row);
  void take_back(const RowPtr& row, Error why);
  void hold_next(const std::shared_ptr<Held>& held);
  void launch_held(const std::shared_ptr<Held>& held);
  void choose_of(const Family& family, TaskView view, ChangesAsk merge, Reply<Chosen> reply);
  void discard_next(const std::shared_ptr<Choice>& choice);

  Rooms rooms_;
};

}  // namespace errand
