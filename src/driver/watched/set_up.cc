#include "driver/watched/set_up.h"

#include <utility>

#include <fmt/format.h>

#include "base/beside.h"
#include "driver/run/outcome.h"
#include "driver/run/spawn.h"

namespace errand::watched {
namespace {

TaskError not_prepared(std::string_view why) {
  return {"isolation", fmt::format("The task's own work tree could not be prepared: {}", why), {}};
}

}  // namespace

std::string set_up_prefix(const TaskId& task) { return task.value + "__setup_"; }
std::string set_up_name(const TaskId& task, int run) { return fmt::format("{}{}.0", set_up_prefix(task), run); }

SetUp::SetUp(SetUpParts parts, std::shared_ptr<const Task> task, Ended ended)
    : parts_(std::move(parts)),
      task_(std::move(task)),
      name_(set_up_name(task_->id, task_->run)),
      ended_(std::move(ended)) {}

SetUp::~SetUp() {
  if (listens_) parts_.supervisor.forget(this);
}

void SetUp::start() {
  process::SpawnRequest request =
      run::plan_spawn(*parts_.options, *task_, name_, {"/bin/sh", "-c", task_->launch.isolate_setup}).request;
  request.timeout_ms = set_up_ms;
  request.output_limit = set_up_log_bytes;
  std::vector<std::string> words = request.argv;
  // Where there is no sandbox this looks at no file; it is the same way, so that nothing happens inside the call.
  run_then(
      parts_.folders, parts_.engine, alive_.watch(),
      [options = parts_.options, can = parts_.supervisor.abilities(), task = task_,
       words = std::move(words)]() mutable { return run::sandboxed(*options, can, *task, std::move(words)); },
      [this, request = std::move(request)](Result<std::vector<std::string>> argv) mutable {
        if (stopped_) return over(not_prepared("it was stopped."));
        if (!argv) return over(not_prepared(argv.error().message));
        request.argv = std::move(*argv);
        spawn(std::move(request));
      });
}

void SetUp::spawn(process::SpawnRequest request) {
  listens_ = true;
  parts_.supervisor.spawn(std::move(request), this, [this, here = alive_.watch()](const Status& started) {
    if (here.gone() || started) return;
    parts_.supervisor.stop(name_);
    over(not_prepared(started.error().message));
  });
}

void SetUp::take_up(Work missing) {
  listens_ = true;
  parts_.supervisor.attach(
      name_, this,
      [this, here = alive_.watch(), missing = std::move(missing)](const Result<process::Attached>& attached) mutable {
        if (here.gone() || attached) return;
        parts_.supervisor.forget(this);
        listens_ = false;
        if (stopped_) return over(not_prepared("it was stopped."));
        missing();
      });
}

void SetUp::stop() {
  stopped_ = true;
  if (listens_) parts_.supervisor.stop(name_);
}

void SetUp::ended(const process::RunEnd& end) {
  listens_ = false;
  using How = process::RunEnd::How;
  if (end.how == How::exited && end.exit_code == 0 && !stopped_)
    return parts_.engine.post([this, here = alive_.watch()] {
      if (!here.gone()) over(std::nullopt);
    });
  run_then(
      parts_.folders, parts_.engine, alive_.watch(),
      [open = parts_.open_journal, name = name_] {
        const Result<std::shared_ptr<process::Journal>> journal = open(name);
        return journal ? run::read_tails(**journal) : run::Tails{};
      },
      [this, end](const run::Tails& tails) {
        const Outcome outcome = run::make_outcome(end, tails, set_up_ms, task_->launch.surface);
        TaskError error = outcome.error.value_or(TaskError{});
        error.code = "isolation";
        if (end.how == How::timeout)
          error.message = fmt::format("The command did not end within {}.", format_duration(set_up_ms));
        error.message = fmt::format(
            "The set-up command of the task's own work tree failed, so the task did not begin: {} `errand logs --setup "
            "{}` shows what it printed.",
            error.message, task_->id.value);
        over(std::move(error));
      });
}

void SetUp::over(std::optional<TaskError> error) {
  if (listens_) parts_.supervisor.forget(this);
  listens_ = false;
  if (Ended ended = std::exchange(ended_, nullptr)) ended(std::move(error));
}

}  // namespace errand::watched
