// The tools that run processes. Inside tools/ only.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "driver/builtin/tool.h"
#include "driver/run/options.h"
#include "process/client.h"

namespace errand::builtin {

// All outlive the tools.
struct ProcessParts {
  process::SupervisorClient& supervisor;
  Executor& background;
  Executor& engine;
  const run::Options& command;  // As command tasks have them.
};

std::unique_ptr<Tool> make_bash(ProcessParts parts);

// What the rules match of a shell command, and the question for a person (tool.h, Need).
Tool::Need need_of_command(std::string_view command, std::string_view where);

}  // namespace errand::builtin
