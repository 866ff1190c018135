// How the CLI ends: the one table of its exit codes. Scripts rely on them, docs/cli.md lists them.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "cli/wire.h"

namespace errand::cli {

enum class Exit : int {
  ok = 0,
  failed = 1,         // The task failed, or the request did for a reason that has no code of its own.
  usage = 2,          // The command line, or what it asked for, is wrong.
  not_found = 3,      // No such task, batch, agent.
  auth = 4,           // No token, a wrong one, or not allowed.
  unreachable = 5,    // No server answers.
  cancelled = 6,      // The task was cancelled.
  timed_out = 7,      // The task ran out of its own time.
  still_running = 8,  // --timeout is over and the task is still at work; or there is no result yet.
  interrupted = 130,  // Ctrl-C: the CLI let go, the task goes on.
};

constexpr int code(Exit exit) { return static_cast<int>(exit); }

Exit exit_of(Code code);
// Of a task: completed, failed, cancelled, timed out, or still at work.
Exit exit_of(const TaskInfo& task);
// Of a command that was waited for: its own exit code, 128+n for a signal, 127 where it could not be
// started, else as exit_of.
int exit_as_the_command(const TaskInfo& task);
// Of several: a failure counts more than a timeout, that more than a cancel, that more than success; a task that is
// still at work counts most.
Exit worse(Exit a, Exit b);

}  // namespace errand::cli
