// Staying with a task after a verb has started something: until it is at rest, showing what it does.
#pragma once

#include <string>

#include "cli/args.h"
#include "cli/context.h"
#include "cli/printer.h"
#include "cli/wire.h"

namespace errand::cli {

// After `task` was launched, sent a message or retried:
//   Stay::no      prints its id (--json: `reply`, the server's own answer) and returns.
//   Stay::wait    waits; then prints an agent's answer. A command's output is shown as it comes.
//   Stay::follow  shows everything as it comes.
// Events after `after` are shown (0: all). With --json, wait prints the task when it is at rest, follow one event a
// line. Returns the exit code: the task's, and a command's own. Ctrl-C lets go of the task, says how to come back, and
// gives 130.
int stay_with(Context& context, const TaskInfo& task, int64_t after, Stay stay, std::string_view reply);

// Shows a task's events after `after` as they come until it is at rest.
Result<StreamEnd> follow(Context& context, const std::string& id, int64_t after, EventPrinter& events,
                         ProgressLine& progress);

// Says how to come back to it. Returns 130.
int detach(Context& context, const std::string& id);

// Prints what the task came to, and returns its exit code: an agent's answer, or why there is none.
int print_result(Context& context, const std::string& id, Millis waited_ms = 0);

// On standard error: why it failed, or that it was cancelled. Nothing for one that is completed.
void explain_end(Context& context, const TaskInfo& task);

}  // namespace errand::cli
