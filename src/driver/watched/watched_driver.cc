#include "driver/watched/watched_driver.h"

#include <utility>

#include "base/beside.h"
#include "driver/conversations.h"
#include "driver/isolates.h"
#include "driver/run/log.h"

namespace errand::watched {
namespace {

// As the real driver knows it.
std::shared_ptr<const Task> as_launched(const Task& task) {
  auto moved = std::make_shared<Task>(task);
  moved->launch.work_dir = folder_of(task);
  return moved;
}

class WatchedDriver : public Driver, public Isolates {
 public:
  WatchedDriver(Driver& inner, WatchOptions options, WatchParts parts)
      : inner_(inner), options_(std::move(options)), parts_(parts) {}

  Capabilities capabilities() const override { return inner_.capabilities(); }
  Status check(const Launch& launch) const override { return inner_.check(launch); }
  Look look(const Launch& launch) const override { return inner_.look(launch); }
  std::function<Status()> may_isolate(std::string folder) const override {
    return parts_.orders.may_isolate(std::move(folder));
  }
  std::string first_mark() const override { return inner_.first_mark(); }

  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    const Launch& launch = request.task->launch;
    const bool isolate = launch.isolate == Isolate::worktree;
    const Watch watch = options_.watch ? options_.watch() : Watch::off;
    if (!isolate && (watch == Watch::off || launch.work_dir.empty())) return inner_.open(std::move(request), sink);
    auto turn = std::make_unique<WatchedTurn>(inner_, parts_, watch, std::move(request), sink);
    turn->start();
    return turn;
  }

  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    if (options_.data_dir.empty()) return inner_.known_runs(std::move(done));
    inner_.known_runs([this, here = alive_.watch(), done = std::move(done)](std::vector<KnownRun> runs) mutable {
      if (here.gone()) return;
      run_then(
          parts_.folders, parts_.engine, alive_.watch(),
          [runs = std::move(runs), folder = options_.data_dir]() mutable {
            for (TaskId& task : Orders::kept_tasks(folder)) runs.push_back({.task = std::move(task)});
            return std::move(runs);
          },
          std::move(done));
    });
  }
  void end_run(const TaskId& task, int run) override { inner_.end_run(task, run); }
  void server_leaves(bool at_work) override { inner_.server_leaves(at_work); }
  void forget(const TaskId& task) override {
    inner_.forget(task);
    parts_.orders.forget(task);
  }

  std::string log_path(const TaskId& task, int run) const override { return inner_.log_path(task, run); }
  Result<LogRead> read_log(const TaskId& task, int run, int64_t offset, int64_t limit) const override {
    if (run != set_up_run) return inner_.read_log(task, run, offset, limit);
    const Result<std::shared_ptr<process::Journal>> journal = parts_.orders.set_up_log(task);
    if (!journal && journal.error().reason == "no_log") return std::unexpected(journal.error());
    if (!journal) return LogRead{};  // It is about to begin.
    return run::read_log(**journal, offset, limit);
  }
  std::vector<int> log_runs(const TaskId& task, int last_run) const override { return inner_.log_runs(task, last_run); }
  Result<ArtifactList> artifacts(const Task& task) const override {
    return task.isolation ? inner_.artifacts(*as_launched(task)) : inner_.artifacts(task);
  }
  void gather(std::shared_ptr<const Task> task, Gathered done) override {
    if (task->isolation) task = as_launched(*task);
    inner_.gather(std::move(task), std::move(done));
  }
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override {
    return task.isolation ? inner_.open_artifact(*as_launched(task), id_or_name)
                          : inner_.open_artifact(task, id_or_name);
  }

 private:
  Driver& inner_;
  WatchOptions options_;
  WatchParts parts_;
  Alive alive_;
};

// In front of a driver whose program has conversations of its own.
class WatchedProgram final : public WatchedDriver, public Conversations {
 public:
  WatchedProgram(Driver& inner, Conversations& conversations, WatchOptions options, WatchParts parts)
      : WatchedDriver(inner, std::move(options), parts), conversations_(conversations) {}

  bool may_have(const SessionId& session) const override { return conversations_.may_have(session); }
  void has(const SessionId& session, std::move_only_function<void(bool)> done) override {
    conversations_.has(session, std::move(done));
  }
  bool copies() const override { return conversations_.copies(); }
  void read(const SessionId& session, Read done) override { conversations_.read(session, std::move(done)); }

 private:
  Conversations& conversations_;
};

}  // namespace

std::unique_ptr<Driver> make_watched_driver(Driver& inner, WatchOptions options, WatchParts parts) {
  if (auto* const conversations = dynamic_cast<Conversations*>(&inner))
    return std::make_unique<WatchedProgram>(inner, *conversations, std::move(options), parts);
  return std::make_unique<WatchedDriver>(inner, std::move(options), parts);
}

}  // namespace errand::watched
