// The text for a commit, written by the agent of the task that made the changes.
#pragma once

#include <string>

#include "cli/context.h"

namespace errand::cli {

// Asks the agent and waits for its answer, five minutes at most. 0: it has answered, and GET …/commit-text has the
// text; else the exit code, and everything is said. The task is at rest then, unless it took too long.
int ask_for_text(Context& context, const std::string& id);

// Waits until all of these tasks have ended. 0, or the exit code of one who does not wait any longer.
int wait_for_all(Context& context, const std::vector<std::string>& ids, Time deadline = {});

}  // namespace errand::cli
