// What callers may ask of tasks (tasks.h): what is asked is checked, counted, and submitted as an input to the task;
// who waits is the business of TaskWaits. Engine thread only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/agents.h"
#include "engine/commits.h"
#include "engine/launching.h"
#include "engine/lives.h"
#include "engine/removal.h"
#include "engine/shared.h"
#include "engine/task_waits.h"
#include "engine/tasks.h"
#include "engine/views.h"

namespace errand {

class TaskCalls final : public Tasks {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Lives& lives;
    const Agents& agents;
    Launching& launching;
    Removal& removal;
    const Views& views;
    TaskWaits& waits;
  };
  explicit TaskCalls(Rooms rooms);

  void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) override;
  void get(TaskId id, Reply<TaskView> reply) override;
  void cancel(TaskId id, std::string by, Reply<TaskView> reply) override;
  void retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) override;
  void message(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void answer(TaskId id, input::Answered answer, Reply<TaskView> reply) override;
  void edit(TaskId id, input::Edit edit, Reply<TaskView> reply) override;
  void remove(TaskId id, Gone why, Reply<void> reply) override;
  void clear(Scope scope, Reply<Cleared> reply) override;
  void result(TaskId id, Millis block_ms, Reply<ResultView> reply) override {
    waits_.result(std::move(id), block_ms, std::move(reply));
  }
  uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) override {
    return waits_.wait(std::move(ids), until, block_ms, std::move(reply));
  }
  void give_up(uint64_t wait) override { waits_.give_up(wait); }
  void resolve(std::string text, Reply<TaskId> reply) override;
  TaskMoment moment(const Task& task) const override { return views_.moment(task); }
  Driver* driver_of(const Task& task) const override { return agents_.driver_of(task); }

 private:
  Shared& shared_;
  Commits& commits_;
  Lives& lives_;
  const Agents& agents_;
  Launching& launching_;
  Removal& removal_;
  const Views& views_;
  TaskWaits& waits_;
};

}  // namespace errand
