// The state that an event tells. Events are kept as their wire JSON (docs/decisions/0003-durable-events.md), so it is
// read from there, by the one function that knows where task_event() and end_event() (json.h) write it.
#pragma once

#include <optional>

#include "task/event.h"
#include "task/task.h"

namespace errand {

// Of task.created, task.status and end; nothing for any other event. Pure, and fast: it looks at the beginning only.
std::optional<TaskState> state_told(const Event& event);

}  // namespace errand
