// Queues of commands that have a command line and no server: task-spooler (`tsp`) and nq, as Debian has them.
#pragma once

#include <string>

namespace errand::bench {

// Commands a second: `commands` times /bin/true, put in by sixteen callers at once, `at_once` running; until the last
// has ended. What the queue keeps is below `folder`. `queue`: "task-spooler" or "nq". nq has one line for each folder,
// so it gets `at_once` folders in turn.
double queue_rate(const std::string& queue, const std::string& folder, int commands, int at_once);

}  // namespace errand::bench
