// What the server's settings say of every process that is started for a task, by whichever driver.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "driver/run/artifacts.h"
#include "process/journal.h"
#include "task/task.h"

namespace errand::run {

struct Options {
  std::string data_dir;                  // Runs are in data_dir/run/, artifacts in data_dir/artifacts/TASK/.
  std::vector<std::string> environment;  // The server's own, "NAME=value": some of it is passed on,
  std::vector<std::string> env_allow;    // and of it this too (environment.h).
  std::vector<std::string> work_dirs;    // Folders that commands may work in, with all below them; empty: any.
  int umask = 022;                       // Of the commands.
  Millis default_timeout_ms = 300'000;   // R4.3.
  int64_t output_limit = 64LL << 20;     // Bytes of a log that are kept where the launch does not say (R9.3).
  Millis grace_ms = 3'000;               // From SIGTERM to SIGKILL.
  ArtifactLimits artifacts = {};         // What is kept of what a task leaves.
  std::string boot = {};                 // This boot's id (process/boot_id.h); empty: not known.
  // Further variables of what is started for a task: how it reaches this server, as that task. Absent: none.
  std::function<StringMap(const Task&)> reach;
  // How a run's journal is opened; absent: from its folder. Any thread.
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;
};

// Where a task may leave files (R9.4); its own processes know it as ERRAND_ARTIFACTS.
std::string artifact_folder(const std::string& data_dir, const TaskId& task);

}  // namespace errand::run
