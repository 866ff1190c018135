// The text for a commit, written by the agent of the task that made the changes; and what is not in that commit.
#pragma once

#include <string>

#include "cli/context.h"

namespace errand::cli {

// Asks the agent and waits for its answer, five minutes at most. 0: it has answered, and GET …/commit-text has the
// text; else the exit code, and everything is said. The task is at rest then, unless it took too long.
int ask_for_text(Context& context, const std::string& id);

// Names the files that the reply to a merge or a publish says are not in it (`not_merged`).
void say_not_merged(const Screen& screen, std::string_view reply);

// Waits until all of these tasks have ended. 0, or the exit code of one who does not wait any longer.
int wait_for_all(Context& context, const std::vector<std::string>& ids, Time deadline = {});

}  // namespace errand::cli
