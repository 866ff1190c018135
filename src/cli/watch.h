// Waiting for tasks, several at once, over the server's one stream of everything.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client.h"
#include "cli/wire.h"

namespace errand::cli {

struct WatchCalls {
  // A watched task as it is now; called at first, and at each change. True: it need not be watched any longer.
  std::function<bool(const TaskInfo&)> changed;
  // It is not there (any more). It is not watched any longer.
  std::function<void(const std::string& id, const Error&)> gone;
  std::function<void()> tick;  // As StreamCalls::tick.
  std::function<void(bool)> lost;
  bool first_only = false;  // Ends with the first that need not be watched any longer, not with the last.
  Time deadline;
};

// Ends with `stopped` when nothing is left to watch, or as StreamEnd says. What `changed` gets from an event has the
// fields that events have: read the task for its result.
Result<StreamEnd> watch_tasks(Client& client, const std::vector<std::string>& ids, const WatchCalls& calls);

}  // namespace errand::cli
