// The text of a stored `output` event, which names a range of a run's log.
#pragma once

#include <string>

#include "driver/driver.h"
#include "task/json_in.h"

namespace errand {

// What the event's stream printed in its range, at most output_text_max bytes of it, as UTF-8: what those who read it
// live were shown. Bytes of the other stream in the range are another event's. Empty where the log cannot be read. Any
// thread; blocking.
std::string output_text(const Driver& driver, const TaskId& task, const OutputRange& range);

}  // namespace errand
