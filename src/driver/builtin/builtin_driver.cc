#include "driver/builtin/builtin_driver.h"

#include <memory>
#include <utility>
#include <vector>

#include "driver/agent_driver.h"
#include "driver/builtin/builtin_turn.h"
#include "driver/builtin/shared.h"
#include "driver/model_list.h"
#include "driver/work_dir.h"

namespace errand::builtin {
namespace {

class BuiltinDriver final : public Driver, public ModelList {
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
  void list_models(const Agent& agent, Listed done) override;
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override {
    return shared_.parts.files ? shared_.parts.files->open_artifact(task, id_or_name)
                               : Driver::open_artifact(task, id_or_name);
  }

 private:
  Shared shared_;
};

// Several places are asked at once. Those that answer are listed, in the order of the places; where none does, the
// default says why.
void BuiltinDriver::list_models(const Agent& agent, Listed done) {
  constexpr size_t places_max = 8;
  Result<std::vector<ModelDirectory::Place>> places = shared_.models.places(agent);
  if (!places) return done(std::unexpected(places.error()));
  if (places->size() > places_max) places->resize(places_max);
  struct Asked {
    std::vector<ModelDirectory::Place> places;
    std::vector<Result<std::vector<ListedModel>>> answers;
    size_t missing = 0;
    Listed done;
  };
  auto asked = std::make_shared<Asked>();
  asked->places = std::move(*places);
  asked->done = std::move(done);
  asked->missing = asked->places.size();
  asked->answers.resize(asked->missing);
  for (size_t i = 0; i < asked->places.size(); ++i)
    shared_.finder.list(asked->places[i].endpoint, [asked, i](Result<std::vector<ListedModel>> answer) {
      asked->answers[i] = std::move(answer);
      if (--asked->missing > 0) return;
      ListedModels all;
      bool any = false;
      for (size_t place = 0; place < asked->places.size(); ++place) {
        if (!asked->answers[place]) continue;
        any = true;
        for (ListedModel& model : *asked->answers[place]) {
          model.id.insert(0, asked->places[place].prefix);
          if (all.models.size() < listed_models_max) all.models.push_back(std::move(model));
        }
      }
      if (!any) return asked->done(std::unexpected(asked->answers.front().error()));
      asked->done(std::move(all));
    });
}

}  // namespace

std::unique_ptr<Driver> make_builtin_driver(ModelDirectory models, BuiltinParts parts) {
  return std::make_unique<BuiltinDriver>(std::move(models), parts);
}

}  // namespace errand::builtin
