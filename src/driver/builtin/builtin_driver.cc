#include "driver/builtin/builtin_driver.h"

#include <utility>

#include "driver/agent_driver.h"
#include "driver/builtin/builtin_turn.h"
#include "driver/builtin/shared.h"
#include "driver/work_dir.h"

namespace errand::builtin {
namespace {

class BuiltinDriver final : public Driver {
 public:
  BuiltinDriver(ModelDirectory models, BuiltinParts parts) : shared_(std::move(models), parts) {}

  Capabilities capabilities() const override { return agent_capabilities(); }

  Status check(const Launch& launch) const override {
    if (Status good = check_prompt(launch); !good) return good;
    // Where there is none at all, its agents say so themselves; one may have an endpoint of its own.
    if (Result<ModelChoice> choice = shared_.models.choose(launch.model);
        !choice && shared_.models.unavailable().empty())
      return std::unexpected(choice.error());
    return shared_.parts.tools.check(launch);
  }

  Look look(const Launch& launch) const override {
    return [work_dir = launch.work_dir, add_dirs = launch.add_dirs, tools = shared_.parts.tools.look(launch)] {
      if (Status folder = check_folder("work_dir", work_dir); !folder) return folder;
      for (const std::string& path : add_dirs)
        if (Status folder = check_folder("folder of add_dirs", path); !folder) return folder;
      return tools ? tools() : Status();
    };
  }

  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    Result<ModelChoice> choice = shared_.models.choose(request.task->launch, *request.agent);
    if (!choice) return std::unexpected(choice.error());
    auto turn = std::make_unique<BuiltinTurn>(shared_, sink, std::move(request), std::move(*choice));
    turn->begin();
    return turn;
  }

  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    shared_.parts.tools.known_runs(std::move(done));
  }
  void end_run(const TaskId& task, int run) override { shared_.parts.tools.end_run(task, run); }
  void forget(const TaskId& task) override { shared_.parts.tools.forget(task); }

  // Its commands have the same folder for artifacts as a command task has, so the same driver knows what is in it.
  Result<ArtifactList> artifacts(const Task& task) const override {
    return shared_.parts.files ? shared_.parts.files->artifacts(task) : Driver::artifacts(task);
  }
  void gather(std::shared_ptr<const Task> task, Gathered done) override {
    if (!shared_.parts.files) return Driver::gather(std::move(task), std::move(done));
    shared_.parts.files->gather(std::move(task), std::move(done));
  }
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override {
    return shared_.parts.files ? shared_.parts.files->open_artifact(task, id_or_name)
                               : Driver::open_artifact(task, id_or_name);
  }

 private:
  Shared shared_;
};

}  // namespace

std::unique_ptr<Driver> make_builtin_driver(ModelDirectory models, BuiltinParts parts) {
  return std::make_unique<BuiltinDriver>(std::move(models), parts);
}

}  // namespace errand::builtin
