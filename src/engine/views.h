// Views: tasks as callers are shown them. Reads, and decides nothing. Engine thread only.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/task_view.h"

namespace errand {

class Views {
 public:
  // Why a task in line is held back, as a sentence; empty: others are before it, or all slots are taken.
  using WhyQueued = std::function<std::string(const Task&)>;
  Views(Shared& shared, const Slots& slots, WhyQueued why_queued = {})
      : shared_(shared), slots_(slots), why_queued_(std::move(why_queued)) {}

  // What is known of a task at this moment, beside what is stored.
  TaskMoment moment(const Task& task) const;
  TaskView of(TaskPtr task) const;
  // Whoever wants to be shown the task, as somebody who is given it.
  Reply<TaskPtr> shown_to(Reply<TaskView> reply) const;
  // As it is stored. not_found says why it is gone.
  void get(TaskId id, Reply<TaskView> reply) const;

 private:
  Shared& shared_;
  const Slots& slots_;
  const WhyQueued why_queued_;
};

// A message of a user, as it is stored. `content` was checked before.
Message user_message(Shared& shared, const SessionId& session, int turn, const NewMessage& message);

}  // namespace errand
