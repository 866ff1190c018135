#include "driver/run/spawn.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "changes/repository.h"
#include "driver/run/environment.h"
#include "driver/run/sandbox.h"
#include "driver/work_dir.h"

namespace errand::run {
namespace {

namespace fs = std::filesystem;

SandboxPlan sandbox_plan(const Options& options, const process::Abilities& can, const Launch& launch,
                         const std::string& artifacts, const std::optional<Isolation>& isolation = {}) {
  const bool cloned = isolation && isolation->kind == "clone";
  // Asked of the user's own folder: what the clone says of it, the task could have written.
  const Result<changes::Repository> users =
      cloned ? changes::find_repository(isolation->repo) : Result<changes::Repository>();
  return {.level = launch.sandbox,
          .bwrap = can.bwrap,
          .work_dir = launch.work_dir.empty() ? "/" : launch.work_dir,
          .add_dirs = launch.add_dirs,
          .artifacts = artifacts,
          .data_dir = options.data_dir,
          .home = server_variable(options, "HOME"),
          .clone = cloned ? isolation->path : "",
          .objects = users && users->is_git() ? users->common_dir + "/objects" : ""};
}

SandboxPlan plan_for(const Options& options, const process::Abilities& can, const Task& task) {
  return sandbox_plan(options, can, task.launch, artifact_folder(options.data_dir, task.id), task.isolation);
}

// Links are resolved: a link in an allowed folder leads nowhere else.
Status check_allowed(const std::vector<std::string>& allowed, const char* field, const std::string& folder) {
  if (allowed.empty()) return {};
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  for (const std::string& root : allowed) {
    std::error_code ignored;
    const fs::path real_root = fs::canonical(root, ignored);
    const auto [end, rest] = std::ranges::mismatch(real_root, real);
    if (!error && !ignored && end == real_root.end()) return {};
  }
  return fail(Code::forbidden,
              fmt::format("Commands may not use the {} {}. Use a folder in {} (the server's setting work_dirs).", field,
                          folder, fmt::join(allowed, ", ")),
              "work_dir");
}

// A process may be made nicer by anybody, and less so by few.
Status check_nice(int nice) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  rlimit limit{};
  ::getrlimit(RLIMIT_NICE, &limit);
  const int least = std::min(own, 20 - static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 40)));
  if (nice >= least || nice == 0 || ::geteuid() == 0) return {};
  return fail(Code::forbidden,
              fmt::format("limits.nice {} asks for more than this server may give; it can give {} to 19.", nice, least),
              "nice");
}

Status check_bwrap(const process::Abilities& can, Sandbox level) {
  if (level == Sandbox::off || !can.bwrap.empty()) return {};
  return fail(Code::unsupported,
              fmt::format("The sandbox \"{}\" is not available here: {}. Or launch it with sandbox \"off\": then it "
                          "can do all that you can.",
                          name(level),
                          can.known ? can.bwrap_text
                                    : "the supervisor is of an older version; it is replaced once nothing runs"),
              "sandbox");
}

// How what runs in a task finds this server.
constexpr std::array reach_names = {"ERRAND_TOKEN", "ERRAND_DATA_DIR", "ERRAND_URL"};

}  // namespace

std::string server_variable(const Options& options, std::string_view name) {
  for (const std::string& entry : options.environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

Status check_sandbox_of(const Options& options, const process::Abilities& can, const Launch& launch) {
  if (Status good = check_bwrap(can, launch.sandbox); !good || launch.sandbox == Sandbox::off) return good;
  return check_sandbox(sandbox_plan(options, can, launch, {}));
}

Status check_sandbox_of(const Options& options, const process::Abilities& can, const Task& task) {
  if (Status good = check_bwrap(can, task.launch.sandbox); !good || task.launch.sandbox == Sandbox::off) return good;
  return check_sandbox(plan_for(options, can, task));
}

Status check_surroundings(const process::Abilities& can, const Launch& launch) {
  if (Status good = check_environment(launch); !good) return good;
  if (Status good = check_nice(launch.limits.nice); !good) return good;
  return check_bwrap(can, launch.sandbox);
}

Status check_folders(const Options& options, const process::Abilities& can, const Launch& launch) {
  if (Status good = check_folder("work_dir", launch.work_dir); !good) return good;
  if (Status good = check_allowed(options.work_dirs, "work_dir", launch.work_dir); !good) return good;
  for (const std::string& folder : launch.add_dirs)
    if (Status good = check_allowed(options.work_dirs, "folder of add_dirs", folder); !good) return good;
  return check_sandbox_of(options, can, launch);
}

Driver::Look look_at_folders(std::shared_ptr<const Options> options, process::Abilities can, const Launch& launch) {
  Launch folders;  // Of the launch only what is looked at: it may be large.
  folders.work_dir = launch.work_dir;
  folders.add_dirs = launch.add_dirs;
  folders.sandbox = launch.sandbox;
  return [options = std::move(options), can = std::move(can), folders = std::move(folders)] {
    return check_folders(*options, can, folders);
  };
}

std::string artifact_folder(const std::string& data_dir, const TaskId& task) {
  return data_dir + "/artifacts/" + task.value;
}

Result<std::string> make_artifact_folder(const Options& options, const TaskId& task) {
  std::string folder = artifact_folder(options.data_dir, task);
  // One call where all above it is there, which is all but the first time.
  if (::mkdir(folder.c_str(), 0700) == 0) return folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error)
    return fail(error == std::errc::no_space_on_device ? Code::storage_full : Code::internal,
                fmt::format("The folder for artifacts {} cannot be made: {}.", folder, error.message()));
  return folder;
}

Spawn plan_spawn(const Options& options, const Task& task, std::string run, std::vector<std::string> argv) {
  const Launch& launch = task.launch;
  const std::string artifacts = artifact_folder(options.data_dir, task.id);
  // Who names another server for what he starts, means it.
  const bool elsewhere =
      std::ranges::any_of(reach_names, [&](const char* variable) { return launch.env.contains(variable); });
  StringMap marks = options.reach && !elsewhere ? options.reach(task) : StringMap();
  marks["ERRAND_TASK_ID"] = task.id.value;
  marks["ERRAND_SESSION_ID"] = task.session_id.value;
  marks["ERRAND_ARTIFACTS"] = artifacts;
  Environment environment = make_environment(options.environment, options.env_allow, launch, marks);
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
  request.sandboxed = true;
  // Where these lead there is nothing inside.
  std::erase_if(request.env, [&](const std::string& entry) {
    return (entry.starts_with("TMPDIR=") && !launch.env.contains("TMPDIR")) || entry.starts_with("XDG_RUNTIME_DIR=");
  });
  return spawn;
}

Result<std::vector<std::string>> sandboxed(const Options& options, const process::Abilities& can, const Task& task,
                                           std::vector<std::string> argv) {
  if (task.launch.sandbox == Sandbox::off) return argv;
  if (Status good = check_sandbox_of(options, can, task); !good) return std::unexpected(good.error());
  return sandbox_argv(plan_for(options, can, task), argv);
}

Spawn make_spawn(const Options& options, const process::Abilities& can, const Task& task, std::string run,
                 std::vector<std::string> argv) {
  Spawn spawn = plan_spawn(options, task, std::move(run), std::move(argv));
  if (task.launch.sandbox != Sandbox::off)
    spawn.request.argv = sandbox_argv(plan_for(options, can, task), spawn.request.argv);
  return spawn;
}

}  // namespace errand::run
