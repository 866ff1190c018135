// The set-up command of a new work tree (`isolate_setup`): a run of its own under the supervisor, with the environment,
// the limits and the sandbox of its task. What it prints is kept until the task is removed.
//
// It goes on when the server is killed: the next one takes it up by its name. Threads: the engine's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/alive.h"
#include "base/executor.h"
#include "driver/run/options.h"
#include "process/client.h"
#include "task/task.h"

namespace errand::watched {

inline constexpr Millis set_up_ms = 3'600'000;           // A command that takes longer is ended.
inline constexpr int64_t set_up_log_bytes = 16LL << 20;  // Of what it prints; past it head and tail are kept.

// The supervisor's name of it, and what those of a task begin with. Number 0: no task has such a run, so no driver
// takes it for one of its own.
std::string set_up_name(const TaskId& task, int run);
std::string set_up_prefix(const TaskId& task);

// All outlive it.
struct SetUpParts {
  process::SupervisorClient& supervisor;
  Executor& folders;  // Threads that may hang in folders of somebody else's.
  Executor& engine;
  std::shared_ptr<const run::Options> options;
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;  // Any thread.
};

class SetUp final : public process::RunListener {
 public:
  // Nothing: it exited with 0. Otherwise why the task cannot begin.
  using Ended = std::move_only_function<void(std::optional<TaskError>)>;
  // `task` is shown as one that works in the new work tree. `ended` is called once, later, never inside a call; not
  // once this is destroyed. Destroying it ends nothing.
  SetUp(SetUpParts parts, std::shared_ptr<const Task> task, Ended ended);
  ~SetUp() override;

  void start();
  // One that an earlier server started. Where there is none, `missing` is called instead.
  void take_up(Work missing);
  // Ends it, with its whole process tree; `ended` follows.
  void stop();

  void output(int64_t) override {}
  void ended(const process::RunEnd& end) override;

 private:
  void spawn(process::SpawnRequest request);
  void over(std::optional<TaskError> error);

  SetUpParts parts_;
  std::shared_ptr<const Task> task_;
  const std::string name_;
  Ended ended_;
  bool listens_ = false, stopped_ = false;
  Alive alive_;
};

}  // namespace errand::watched
