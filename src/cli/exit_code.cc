#include "cli/exit_code.h"

namespace errand::cli {

Exit exit_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return Exit::usage;
    case Code::not_found:
      return Exit::not_found;
    case Code::unauthorized:
    case Code::forbidden:
      return Exit::auth;
    case Code::unavailable:
      return Exit::unreachable;
    case Code::conflict:
    case Code::unsupported:
    case Code::too_large:
    case Code::exhausted:
    case Code::storage_full:
    case Code::internal:
      return Exit::failed;
  }
  return Exit::failed;
}

Exit exit_of(const TaskInfo& task) {
  if (task.status == "completed") return Exit::ok;
  if (task.status == "cancelled") return Exit::cancelled;
  if (task.status == "failed") return task.reason == "timeout" ? Exit::timed_out : Exit::failed;
  return Exit::still_running;
}

int exit_as_the_command(const TaskInfo& task) {
  Exit exit = exit_of(task);
  // A command that errand itself ended (timeout, cancel) died of a signal, but why is what the caller wants to know.
  if (exit != Exit::ok && exit != Exit::failed) return code(exit);
  if (task.reason == "spawn_failed") return 127;  // As a shell says it.
  if (task.signal) return 128 + *task.signal;
  if (task.exit_code) return *task.exit_code;
  return code(exit);
}

namespace {
int weight(Exit exit) {
  switch (exit) {
    case Exit::ok:
      return 0;
    case Exit::cancelled:
      return 1;
    case Exit::timed_out:
      return 2;
    case Exit::still_running:
      return 4;
    default:
      return 3;
  }
}
}  // namespace

Exit worse(Exit a, Exit b) { return weight(b) > weight(a) ? b : a; }

}  // namespace errand::cli
