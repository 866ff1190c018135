// How a command is started: what a launch says, as the supervisor takes it. Command tasks and what agents run begin
// alike: the same environment, limits and sandbox.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/run/options.h"
#include "process/client.h"
#include "task/task.h"

namespace errand::run {

// A variable of the server's own environment; empty where it is not set.
std::string server_variable(const Options& options, std::string_view name);

// Can this launch have its sandbox here? Blocking.
Status check_sandbox_of(const Options& options, const process::Abilities& can, const Launch& launch);
// The same of a task, which may have a clone of its own in errand's data folder.
Status check_sandbox_of(const Options& options, const process::Abilities& can, const Task& task);

// Can what this launch starts have the environment, rank and sandbox that it names? Looks at no file.
Status check_surroundings(const process::Abilities& can, const Launch& launch);
// And the folders? They are there, a sandbox can have them, and they are among those that the server's setting
// `work_dirs` allows. Blocking.
Status check_folders(const Options& options, const process::Abilities& can, const Launch& launch);
// The same, for later and elsewhere.
Driver::Look look_at_folders(std::shared_ptr<const Options> options, process::Abilities can, const Launch& launch);

// The task's artifact folder, made where there is none. Blocking.
Result<std::string> make_artifact_folder(const Options& options, const TaskId& task);

struct Spawn {
  process::SpawnRequest request;
  std::vector<std::string> missing;  // Named in pass_env, and not set where the server runs.
};
// `argv` as the run `run` of this task, in its work dir, with its environment and limits, in its sandbox. The timeout
// and the bound of its output are the launch's own; whoever wants others sets them. Blocking where there is a sandbox.
Spawn make_spawn(const Options& options, const process::Abilities& can, const Task& task, std::string run,
                 std::vector<std::string> argv);
// The same in two steps, for the engine's thread. The first looks at no file, and leaves `argv` as it is.
Spawn plan_spawn(const Options& options, const Task& task, std::string run, std::vector<std::string> argv);
// The second puts `argv` into the task's sandbox, where it has one. Blocking.
Result<std::vector<std::string>> sandboxed(const Options& options, const process::Abilities& can, const Task& task,
                                           std::vector<std::string> argv);

}  // namespace errand::run
