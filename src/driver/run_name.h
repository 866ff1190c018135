// Names of runs under the supervisor. "<task>.<run>" is the task's own; "<task>__<tool>_<key>.<run>" is one that a tool
// of an agent started in that run of the task. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace errand {

struct RunName {
  TaskId task;
  int run = 0;
  std::string tool;  // Empty: the task's own.
  std::string key;   // Tells the runs of one tool apart.
  bool operator==(const RunName&) const = default;
};

// The supervisor takes letters, digits and underscores: `tool` has letters and digits alone, `key` no double
// underscore.
std::string run_name(const RunName& run);
// The task's own.
std::string run_name(const TaskId& task, int run);
// Nothing, where it is none of ours.
std::optional<RunName> parse_run_name(std::string_view name);

}  // namespace errand
