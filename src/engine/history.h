// The conversation as an agent had it: what a driver that keeps none of its own is given.
#pragma once

#include <vector>

#include "base/result.h"
#include "store/store.h"
#include "task/message.h"
#include "task/task.h"

namespace errand {

// Everything that is stored but what the agent has not taken yet, in the order in which it said and took it. Of a
// conversation over the bounds the oldest messages are left out. Blocking.
Result<std::vector<Message>> read_history(Store& store, const Task& task);

// A message that somebody sent has its number from when it was sent, and may have been taken later, behind what the
// agent said meanwhile: there it belongs.
std::vector<Message> in_taking_order(std::vector<Message> messages);

}  // namespace errand
