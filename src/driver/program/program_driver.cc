#include "driver/program/program_driver.h"

#include <limits>

#include <fmt/format.h>

#include "base/log.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"

namespace errand::program {

namespace {

run::Options with_journals(run::Options options) {
  if (!options.open_journal)
    options.open_journal = [folder = options.data_dir](const std::string& run) {
      return process::Journal::open(process::run_folder(folder, run));
    };
  return options;
}

}  // namespace

ProgramDriver::ProgramDriver(Kind kind, run::Options options, Parts parts, std::function<Holder::Bounds()> bounds,
                             Holder::Habits habits)
    : kind_(kind),
      options_(std::make_shared<run::Options>(with_journals(std::move(options)))),
      parts_(parts),
      holder_(line_parts(), kind_.driver, std::move(bounds), std::move(habits)) {
  if (parts_.programs != nullptr) parts_.programs->on_want_room([this] { holder_.end_each(); });
}

lines::Parts ProgramDriver::line_parts() const {
  return {.supervisor = parts_.supervisor,
          .timers = parts_.timers,
          .files = parts_.files,
          .engine = parts_.engine,
          .open_journal = options_->open_journal,
          .programs = parts_.programs};
}

Status ProgramDriver::check(const Launch& launch) const {
  if (Status good = check_prompt(launch); !good) return good;
  if (launch.sandbox != Sandbox::off)
    return fail(Code::unsupported,
                fmt::format("{} Launch it with sandbox \"off\", or use the agent \"builtin\".", kind_.no_sandbox),
                "sandbox");
  return run::check_surroundings(parts_.supervisor.abilities(), launch);
}

Driver::Look ProgramDriver::look(const Launch& launch) const {
  return run::look_at_folders(options_, parts_.supervisor.abilities(), launch);
}

std::string ProgramDriver::run_of(const TaskId& task, int run) const {
  if (*kind_.tool == 0) return run_name(task, run);
  return run_name(RunName{.task = task, .run = run, .tool = kind_.tool, .key = "0"});
}

Task ProgramDriver::as_program(const Task& task) const {
  Task known = task;
  if (holder_.keeps()) known.run = 0;
  return known;
}

process::SpawnRequest ProgramDriver::plan(const Task& task, std::vector<std::string> argv) const {
  process::SpawnRequest request =
      run::plan_spawn(*options_, as_program(task), run_of(task.id, task.run), std::move(argv)).request;
  request.timeout_ms = 0;  // The engine's: a turn may wait for a person.
  return request;
}

std::string ProgramDriver::key_of(const process::SpawnRequest& spawn, const std::vector<std::string>& more) {
  std::string key;
  for (const auto* texts : {&spawn.argv, &spawn.env, &more}) {
    for (const std::string& text : *texts) key += fmt::format("{}:{}", text.size(), text);
    key += '\n';
  }
  const process::RunLimits& limits = spawn.limits;
  return key + fmt::format("{} {} {} {} {} {} {}", spawn.work_dir, spawn.umask, limits.cpu_s, limits.memory_bytes,
                           limits.processes, limits.open_files, limits.nice);
}

void ProgramDriver::ours(std::move_only_function<void(Runs)> done) {
  parts_.supervisor.list(
      [done = std::move(done), kind = kind_](Result<std::vector<process::RunStatus>> listed) mutable {
        Runs runs;
        if (!listed) log_warning(kind.area, "the supervisor's runs are not known: " + listed.error().message);
        for (const process::RunStatus& status : listed ? *listed : std::vector<process::RunStatus>())
          if (const auto name = parse_run_name(status.run); name && name->tool == kind.tool)
            runs.emplace_back(status.run, KnownRun{.task = name->task, .run = name->run, .alive = status.alive});
        done(std::move(runs));
      });
}

void ProgramDriver::known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) {
  ours([done = std::move(done)](const Runs& runs) mutable {
    std::vector<KnownRun> known;
    for (const auto& [name, run] : runs) known.push_back(run);
    done(std::move(known));
  });
}

// A turn that was taken up after a restart may be over before the runs of the server before are gone through: its
// program waits for the next one, and is no leftover.
void ProgramDriver::end_run(const TaskId& task, int run) {
  const std::string name = run_of(task, run);
  if (!holder_.has(name)) parts_.supervisor.stop(name);
}

void ProgramDriver::server_leaves(bool /*at_work*/) { holder_.end_all(); }

void ProgramDriver::release_before(const TaskId& task, int run) {
  ours([&supervisor = parts_.supervisor, task, run](const Runs& runs) {
    for (const auto& [name, known] : runs)
      if (known.task == task && known.run < run) supervisor.release(name);
  });
}

void ProgramDriver::forget(const TaskId& task) {
  holder_.end(task);
  release_before(task, std::numeric_limits<int>::max());
  if (parts_.artifacts) parts_.artifacts->forget(task);
}

Result<ArtifactList> ProgramDriver::artifacts(const Task& task) const {
  return parts_.artifacts ? parts_.artifacts->artifacts(task) : Driver::artifacts(task);
}

void ProgramDriver::gather(std::shared_ptr<const Task> task, Gathered done) {
  if (!parts_.artifacts) return Driver::gather(std::move(task), std::move(done));
  parts_.artifacts->gather(std::move(task), std::move(done));
}

Result<Driver::OpenArtifact> ProgramDriver::open_artifact(const Task& task, std::string_view id_or_name) const {
  return parts_.artifacts ? parts_.artifacts->open_artifact(task, id_or_name) : Driver::open_artifact(task, id_or_name);
}

}  // namespace errand::program
