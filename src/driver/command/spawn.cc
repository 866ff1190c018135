#include "driver/command/spawn.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "driver/command/environment.h"
#include "driver/command/sandbox.h"

namespace errand::command {
namespace {

namespace fs = std::filesystem;

SandboxPlan sandbox_plan(const CommandOptions& options, const process::Abilities& can, const Launch& launch,
                         const std::string& artifacts) {
  return {.level = launch.sandbox,
          .bwrap = can.bwrap,
          .work_dir = launch.work_dir.empty() ? "/" : launch.work_dir,
          .add_dirs = launch.add_dirs,
          .artifacts = artifacts,
          .data_dir = options.data_dir,
          .home = server_variable(options, "HOME")};
}

}  // namespace

std::string server_variable(const CommandOptions& options, std::string_view name) {
  for (const std::string& entry : options.environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

Status check_sandbox_of(const CommandOptions& options, const process::Abilities& can, const Launch& launch) {
  if (launch.sandbox == Sandbox::off) return {};
  if (can.bwrap.empty())
    return fail(
        Code::unsupported,
        fmt::format(
            "The sandbox level \"{}\" cannot be had here: {}. Or launch it with sandbox \"off\": then it "
            "can do all that you can.",
            name(launch.sandbox),
            can.known ? can.bwrap_text : "the supervisor is of an older version; it is replaced once nothing runs"),
        "sandbox");
  return check_sandbox(sandbox_plan(options, can, launch, {}));
}

Result<std::string> make_artifact_folder(const CommandOptions& options, const TaskId& task) {
  std::string folder = artifact_folder(options.data_dir, task);
  // One call where all above it is there, which is all but the first time: this is the engine's thread.
  if (::mkdir(folder.c_str(), 0700) == 0) return folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error)
    return fail(error == std::errc::no_space_on_device ? Code::storage_full : Code::internal,
                fmt::format("The folder for artifacts {} cannot be made: {}.", folder, error.message()));
  return folder;
}

Spawn make_spawn(const CommandOptions& options, const process::Abilities& can, const Task& task, std::string run,
                 std::vector<std::string> argv) {
  const Launch& launch = task.launch;
  const std::string artifacts = artifact_folder(options.data_dir, task.id);
  Environment environment = make_environment(options.environment, options.env_allow, launch,
                                             {{"ERRAND_TASK_ID", task.id.value},
                                              {"ERRAND_SESSION_ID", task.session_id.value},
                                              {"ERRAND_ARTIFACTS", artifacts}});
  Spawn spawn{.request = {}, .missing = std::move(environment.missing)};
  process::SpawnRequest& request = spawn.request;
  request.run = std::move(run);
  request.argv = std::move(argv);
  request.work_dir = launch.work_dir.empty() ? "/" : launch.work_dir;
  request.env = std::move(environment.variables);
  request.timeout_ms = launch.timeout_ms == 0 ? options.default_timeout_ms : std::max<Millis>(launch.timeout_ms, 0);
  request.grace_ms = options.grace_ms;
  request.output_limit = launch.limits.output_bytes > 0 ? launch.limits.output_bytes : options.output_limit;
  const auto bound = [](int64_t limit) { return std::max<int64_t>(limit, 0); };  // -1: none.
  request.limits = {.cpu_s = bound(launch.limits.cpu_s),
                    .memory_bytes = bound(launch.limits.memory_bytes),
                    .processes = bound(launch.limits.processes),
                    .open_files = bound(launch.limits.open_files),
                    .nice = launch.limits.nice};
  request.umask = options.umask;
  if (launch.sandbox == Sandbox::off) return spawn;
  request.argv = sandbox_argv(sandbox_plan(options, can, launch, artifacts), request.argv);
  request.sandboxed = true;
  // Where these lead there is nothing inside.
  std::erase_if(request.env, [&](const std::string& entry) {
    return (entry.starts_with("TMPDIR=") && !launch.env.contains("TMPDIR")) || entry.starts_with("XDG_RUNTIME_DIR=");
  });
  return spawn;
}

}  // namespace errand::command
