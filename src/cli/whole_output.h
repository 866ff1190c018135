// A command's output for somebody who watches it. An `output` event has at most 32 KiB of what was printed, and none
// where the server could not follow a flood: the rest of its range is read from the log. So that what `errand run
// --wait` prints is what the command printed.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"
#include "cli/wire.h"

namespace errand::cli {

// Calls `each` with the event; or, where it is not whole, with one of the same kind that is, in pieces. What cannot be
// read is left out, as it is in the event.
using EachEvent = std::function<void(const EventInfo&)>;
void with_whole_output(Context& context, const std::string& task, const EventInfo& event, const EachEvent& each);

}  // namespace errand::cli
