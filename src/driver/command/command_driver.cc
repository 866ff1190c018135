#include "driver/command/command_driver.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/beside.h"
#include "base/log.h"
#include "driver/command/command_turn.h"
#include "driver/command/output.h"
#include "driver/command/watch.h"
#include "driver/run/artifacts.h"
#include "driver/run/log.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"
#include "process/artifact_folder.h"
#include "shell/interactive.h"

namespace errand::command {
namespace {

namespace fs = std::filesystem;

// The kernel's bound for one word of a command line (MAX_ARG_STRLEN), with its closing NUL.
constexpr size_t word_max = 128 * 1024 - 1;
constexpr int log_runs_max = 1'000;  // Of a task that was started more often the newest are listed.

Status check_word(std::string_view word) {
  if (word.contains('\0')) return fail(Code::invalid_argument, "The command has a NUL byte in it; remove it.");
  if (word.size() > word_max)
    return fail(Code::too_large,
                fmt::format("The command has a word of {} bytes and the system takes {} at most; put it into "
                            "a file and run that.",
                            word.size(), word_max));
  return {};
}

// R9.2: a command that would ask a person is refused before it starts.
Status check_nobody_is_asked(const Launch& launch) {
  if (launch.allow_interactive) return {};
  std::vector<std::string> variables;
  for (const auto& [name, value] : launch.env) variables.push_back(name);
  const auto asks = launch.argv.empty() ? shell::find_interactive(launch.command, variables)
                                        : shell::find_interactive(launch.argv, variables);
  if (!asks) return {};
  return fail(Code::invalid_argument, shell::refusal_text(*asks), "interactive");
}

// A run of a command task; its task is empty where it is none: what an agent's tools run is not ours to end.
Driver::KnownRun parse_run(std::string_view name) {
  std::optional<RunName> run = parse_run_name(name);
  if (!run || !run->tool.empty()) return {};
  return {.task = std::move(run->task), .run = run->run};
}

// An id becomes part of a path: one that could lead elsewhere is not used.
bool safe_name(std::string_view id) {
  return !id.empty() && id.front() != '.' && id.find_first_of(std::string_view("/\0", 2)) == id.npos;
}

// A removal was cut short between the two. And what keepers that were killed left goes.
void add_artifacts_without_run(const std::string& folder, std::vector<Driver::KnownRun>& runs) {
  std::set<std::string, std::less<>> known;
  for (const Driver::KnownRun& run : runs) known.insert(run.task.value);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().native();
    if (name.starts_with(process::spare_prefix)) ::rmdir(entry.path().c_str());
    const std::string_view task = std::string_view(name).substr(0, name.find('.'));
    if (task.starts_with("task_") && known.insert(std::string(task)).second)
      runs.push_back({.task = TaskId(task), .run = 0, .alive = false});
  }
}

class CommandDriver final : public Driver {
 public:
  CommandDriver(run::Options options, CommandParts parts) : options_(std::move(options)), parts_(parts) {
    if (!options_.open_journal)
      options_.open_journal = [folder = options_.data_dir](const std::string& run) {
        return process::Journal::open(process::run_folder(folder, run));
      };
  }

  Capabilities capabilities() const override { return {.reattach = true}; }
  Status check(const Launch& launch) const override;
  Look look(const Launch& launch) const override;
  std::string first_mark() const override {
    return options_.boot.empty() ? std::string() : encode_mark({.boot = options_.boot});
  }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override;
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override;
  // Its folder stays: it may be the log of an earlier attempt (R1.9).
  void end_run(const TaskId& task, int run) override { parts_.supervisor.stop(run_name(task, run)); }
  void forget(const TaskId& task) override;
  std::string log_path(const TaskId& task, int run) const override {
    return process::log_file(options_.data_dir, run_name(task, run));
  }
  Result<LogRead> read_log(const TaskId& task, int run, int64_t offset, int64_t limit) const override;
  Result<ArtifactList> artifacts(const Task& task) const override;
  void gather(std::shared_ptr<const Task> task, Gathered done) override;
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override;
  std::vector<int> log_runs(const TaskId& task, int last_run) const override;

 private:
  Executor& files() const { return parts_.files != nullptr ? *parts_.files : parts_.background; }
  Executor& folders() const { return parts_.folders != nullptr ? *parts_.folders : parts_.background; }
  void gather_last(std::shared_ptr<const Task> task, const process::RunEnd& end, Gathered done);

  run::Options options_;
  CommandParts parts_;
  const std::shared_ptr<const run::Options> kept_options_ = std::make_shared<run::Options>(options_);  // For looks.
  Beside beside_{&files(), parts_.engine};
  // Shared with what runs in the background, which may outlive this.
  std::shared_ptr<run::Artifacts> artifacts_ =
      std::make_shared<run::Artifacts>(options_.data_dir, options_.artifacts, parts_.folders);
};

Status CommandDriver::check(const Launch& launch) const {
  if (launch.kind != TaskKind::command)
    return fail(Code::invalid_argument, "This agent runs commands; launch it with kind \"command\" and a command.");
  if (launch.argv.empty() ? launch.command.find_first_not_of(" \t\r\n") == std::string::npos : launch.argv[0].empty())
    return fail(Code::invalid_argument, "The command is empty; give a shell command, or a list of words.");
  if (launch.argv.empty())
    if (Status good = check_word(launch.command); !good) return good;
  for (const std::string& word : launch.argv)
    if (Status good = check_word(word); !good) return good;
  if (Status good = check_nobody_is_asked(launch); !good) return good;
  if (Status good = check_patterns(launch.notify_on); !good) return good;
  return run::check_surroundings(parts_.supervisor.abilities(), launch);
}

Driver::Look CommandDriver::look(const Launch& launch) const {
  return run::look_at_folders(kept_options_, parts_.supervisor.abilities(), launch);
}

Result<std::unique_ptr<Turn>> CommandDriver::open(TurnRequest request, Sink& sink) {
  const Task& task = *request.task;
  if (!safe_name(task.id.value)) return fail(Code::internal, "The task's id cannot name a folder.");
  OutputMark mark;
  if (!task.checkpoint.empty()) {
    Result<OutputMark> stored = decode_mark(task.checkpoint);
    if (!stored) return std::unexpected(stored.error());
    mark = *std::move(stored);
  }
  const Launch& launch = task.launch;
  const std::vector<std::string> argv =
      launch.argv.empty() ? std::vector<std::string>{"/bin/sh", "-c", launch.command} : launch.argv;
  run::Spawn spawn = run::plan_spawn(options_, task, run_name(task.id, task.run), argv);
  const process::Abilities can = parts_.supervisor.abilities();
  spawn.request.boot_stored = !mark.boot.empty();
  // With patterns the folder stays, though it may be empty: it says that the task was not removed before its files were
  // gathered.
  const bool keeper_makes = can.artifacts && launch.artifacts.empty();
  if (keeper_makes) spawn.request.artifacts = run::artifact_folder(options_.data_dir, task.id);
  auto turn = std::make_unique<CommandTurn>(options_, parts_, sink, std::move(spawn.request), std::move(mark),
                                            request.reattach ? task.progress.cpu_s : 0, launch);
  // A sandbox is made of folders that are there. Otherwise nothing is to be looked at: the keeper makes the one for
  // artifacts, and a thread that would do it here would cost a short command as much as its start.
  if (launch.sandbox != Sandbox::off || !keeper_makes)
    turn->prepare_with(
        [options = kept_options_, can, task = request.task, argv]() -> Result<std::vector<std::string>> {
          if (Result<std::string> artifacts = run::make_artifact_folder(*options, task->id); !artifacts)
            return std::unexpected(artifacts.error());
          return run::sandboxed(*options, can, *task, argv);
        },
        launch.sandbox == Sandbox::off ? files() : folders());
  turn->gather_with([this, task = request.task](const process::RunEnd& end, Gathered done) {
    gather_last(task, end, std::move(done));
  });
  std::vector<Report> first;
  first.reserve(request.messages.size());
  // A message that came with a retry is part of the conversation, though a command does not read it.
  for (const Message& message : request.messages) first.emplace_back(report::Taken{message.id});
  if (!request.reattach)
    for (const std::string& name : spawn.missing)
      first.emplace_back(report::Warning{
          "env_missing", fmt::format("{} is named in pass_env and is not set where the server runs.", name)});
  turn->tell(std::move(first));
  if (request.reattach) {
    turn->attach();
  } else {
    turn->spawn();
  }
  return turn;
}

void CommandDriver::known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) {
  parts_.supervisor.list([this, done = std::move(done)](Result<std::vector<process::RunStatus>> listed) mutable {
    std::vector<KnownRun> runs;
    if (!listed) {
      log_warning("command", "the supervisor's runs are not known: " + listed.error().message);
      return done({});
    }
    for (const process::RunStatus& status : *listed) {
      KnownRun run = parse_run(status.run);
      run.alive = status.alive;
      if (run.task) runs.push_back(std::move(run));
    }
    beside_.run(
        [runs = std::move(runs), folder = options_.data_dir + "/artifacts"]() mutable {
          add_artifacts_without_run(folder, runs);
          return std::move(runs);
        },
        std::move(done));
  });
}

void CommandDriver::forget(const TaskId& task) {
  if (!safe_name(task.value)) return;
  parts_.supervisor.list([&supervisor = parts_.supervisor, task](Result<std::vector<process::RunStatus>> listed) {
    // What is left for now is found at the next start: no task owns it then.
    if (!listed) return log_warning("command", "the runs of a removed task stay for now: " + listed.error().message);
    for (const process::RunStatus& status : *listed)
      if (parse_run(status.run).task == task) supervisor.release(status.run);
  });
  parts_.background.post([artifacts = artifacts_, task] { artifacts->remove(task); });
}

Result<ArtifactList> CommandDriver::artifacts(const Task& task) const {
  if (!safe_name(task.id.value)) return ArtifactList{};
  return artifacts_->list(task);
}

// Most commands leave nothing: they do not wait behind those that do, and where their keeper has seen it nobody looks
// again. An earlier run of the task may have left something that is kept.
void CommandDriver::gather_last(std::shared_ptr<const Task> task, const process::RunEnd& end, Gathered done) {
  if (end.left_nothing && task->run == 1) return done(ArtifactList{});
  beside_.run(
      [artifacts = artifacts_, folder = run::artifact_folder(options_.data_dir, task->id), task] {
        if (!artifacts->nothing_to_gather(*task)) return false;
        ::rmdir(folder.c_str());
        return true;
      },
      [this, task, done = std::move(done)](bool nothing) mutable {
        nothing ? done(ArtifactList{}) : gather(task, std::move(done));
      });
}

void CommandDriver::gather(std::shared_ptr<const Task> task, Gathered done) {
  if (!safe_name(task->id.value)) return done(ArtifactList{});
  if (!parts_.engine)
    return done(artifacts_->nothing_to_gather(*task) ? Result<ArtifactList>() : artifacts_->gather(*task));
  parts_.background.post([artifacts = artifacts_, engine = parts_.engine, task, done = std::move(done)]() mutable {
    Result<ArtifactList> list = artifacts->nothing_to_gather(*task) ? Result<ArtifactList>() : artifacts->gather(*task);
    engine->post([done = std::move(done), list = std::move(list)]() mutable { done(std::move(list)); });
  });
}

Result<Driver::OpenArtifact> CommandDriver::open_artifact(const Task& task, std::string_view id_or_name) const {
  if (!safe_name(task.id.value)) return fail(Code::not_found, "There is no such artifact.", "no_artifact");
  return artifacts_->open(task, id_or_name);
}

Result<LogRead> CommandDriver::read_log(const TaskId& task, int run, int64_t offset, int64_t limit) const {
  if (!safe_name(task.value)) return fail(Code::not_found, "There is no such log.");
  Result<std::shared_ptr<process::Journal>> journal = options_.open_journal(run_name(task, run));
  if (!journal) return std::unexpected(journal.error());
  return run::read_log(**journal, offset, limit);
}

// The names of a task's runs are known: nobody else's are looked at.
std::vector<int> CommandDriver::log_runs(const TaskId& task, int last_run) const {
  std::vector<int> runs;
  if (!safe_name(task.value)) return runs;
  for (int run = std::max(1, last_run - log_runs_max + 1); run <= last_run; ++run)
    if (::access(process::run_folder(options_.data_dir, run_name(task, run)).c_str(), F_OK) == 0) runs.push_back(run);
  return runs;
}

}  // namespace

std::unique_ptr<Driver> make_command_driver(run::Options options, CommandParts parts) {
  return std::make_unique<CommandDriver>(std::move(options), parts);
}

}  // namespace errand::command
