// A task as callers are shown it, and how they are answered.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "task/json.h"
#include "task/task.h"

namespace errand {

// Called exactly once, on the engine's thread, never inside the call that it answers. Where the engine is destroyed
// first it is dropped without a call.
template <class T>
using Reply = std::move_only_function<void(Result<T>)>;

// A task as it is stored. It is never changed: what comes after it is another one.
using TaskPtr = std::shared_ptr<const Task>;

// A task and what is known of it at this moment. The task is shared, not copied: it may hold megabytes. `task` is valid
// as long as the view lives, also one that was moved from: `kept` is const, so that a move shares it, too.
struct TaskView {
  TaskView(TaskPtr shared, TaskMoment known) : kept(std::move(shared)), task(*kept), moment(std::move(known)) {}
  TaskView(Task own, TaskMoment known) : TaskView(std::make_shared<const Task>(std::move(own)), std::move(known)) {}

  const TaskPtr kept;
  const Task& task;  // In `kept`.
  TaskMoment moment;
};

}  // namespace errand
