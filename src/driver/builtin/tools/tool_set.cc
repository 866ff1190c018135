#include "driver/builtin/tools/tool_set.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/log.h"
#include "driver/builtin/mcp_client/mcp_tools.h"
#include "driver/builtin/skills/skills.h"
#include "driver/builtin/tools/agent_tool.h"
#include "driver/builtin/tools/fetch.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/process_tools.h"
#include "driver/builtin/tools/todo.h"
#include "driver/run/artifacts.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"
#include "model/model.h"
#include "task/agent.h"

namespace errand::builtin {
namespace {

constexpr std::string_view fetch_name = "fetch";

std::vector<std::string> roots_of(const Task& task) {
  std::vector<std::string> roots{task.launch.work_dir};
  roots.insert(roots.end(), task.launch.add_dirs.begin(), task.launch.add_dirs.end());
  return roots;
}

class Set;

class Turn final : public TurnTools {
 public:
  Turn(Set& set, std::shared_ptr<const Task> task, std::shared_ptr<const Agent> agent)
      : set_(set), task_(std::move(task)), agent_(std::move(agent)) {}

  void prepare(std::move_only_function<void(std::vector<std::string>)> ready) override;
  const std::vector<std::shared_ptr<const Tool>>& list() const override { return tools_; }
  std::shared_ptr<const Tool> find(std::string_view name) const override {
    const auto found =
        std::ranges::find(tools_, name, [](const auto& tool) -> std::string_view { return tool->spec().name; });
    return found == tools_.end() ? nullptr : *found;
  }
  std::string skills_text() const override { return skills_text_; }
  void close(std::move_only_function<void()> gone) override;
  void drop() override {
    if (servers_) servers_->drop();
  }

 private:
  void skills_found(FoundSkills found);
  void begin_servers();
  void choose();

  Set& set_;
  const std::shared_ptr<const Task> task_;
  const std::shared_ptr<const Agent> agent_;
  std::vector<std::shared_ptr<const Tool>> tools_;
  std::shared_ptr<const Tool> skill_tool_;
  std::unique_ptr<mcp::Servers> servers_;
  std::string skills_text_;
  std::vector<std::string> warnings_;
  std::move_only_function<void(std::vector<std::string>)> ready_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

class Set final : public ToolSet {
 public:
  Set(ToolSettings settings, ToolSetParts parts) : settings_(std::move(settings)), parts_(parts) {
    const FileParts files{.background = parts_.background,
                          .engine = parts_.engine,
                          .clock = parts_.clock,
                          .memory = memory_,
                          .places = places(),
                          .umask = settings_.command.umask};
    for (auto* make : {make_read, make_list, make_glob, make_grep, make_edit, make_write})
      tools_.push_back(make(files));
    tools_.push_back(make_bash({parts_.supervisor, parts_.background, parts_.engine, settings_.command}));
    tools_.push_back(make_todo(parts_.engine, todo_));
    if (parts_.http)
      tools_.push_back(
          make_fetch({*parts_.http, parts_.timers, parts_.background, parts_.engine, settings_.fetch.allow_private}));
  }

  Status check(const Launch& launch) const override {
    return run::check_surroundings(parts_.supervisor.abilities(), launch);
  }
  Driver::Look look(const Launch& launch) const override {
    return run::look_at_folders(kept_command_, parts_.supervisor.abilities(), launch);
  }

  std::unique_ptr<TurnTools> open(std::shared_ptr<const Task> task, std::shared_ptr<const Agent> agent) override {
    // Asked for late: the toolbox is made behind the drivers.
    if (parts_.agent_tools && agent_tools_.empty())
      for (auto& tool : make_agent_tools(*parts_.agent_tools)) agent_tools_.push_back(std::move(tool));
    return std::make_unique<Turn>(*this, std::move(task), std::move(agent));
  }

  void known_runs(std::move_only_function<void(std::vector<Driver::KnownRun>)> done) override {
    parts_.supervisor.list([done = std::move(done)](Result<std::vector<process::RunStatus>> listed) mutable {
      std::vector<Driver::KnownRun> runs;
      if (!listed) log_warning("builtin", "the supervisor's runs are not known: " + listed.error().message);
      for (const process::RunStatus& status : listed.value_or(std::vector<process::RunStatus>()))
        if (auto run = parse_run_name(status.run); run && !run->tool.empty())
          runs.push_back({.task = std::move(run->task), .run = run->run, .alive = status.alive});
      done(std::move(runs));
    });
  }
  void end_run(const TaskId& task, int run) override {
    release([task, run](const RunName& name, const process::RunStatus& status) {
      return name.task == task && name.run == run && status.alive;
    });
  }
  void forget(const TaskId& task) override {
    memory_.forget(task);
    readable_->forget(task);
    forget_todo(*todo_, task);
    release([task](const RunName& name, const process::RunStatus&) { return name.task == task; });
    parts_.background.post([folder = settings_.command.data_dir, limits = settings_.command.artifacts, task] {
      run::Artifacts(folder, limits).remove(task);
    });
  }

  // The runs of tools that `which` means: ended, and their folders go. `then` is called behind it.
  void release(std::move_only_function<bool(const RunName&, const process::RunStatus&)> which, Work then = {}) {
    parts_.supervisor.list([&supervisor = parts_.supervisor, which = std::move(which),
                            then = std::move(then)](Result<std::vector<process::RunStatus>> listed) mutable {
      if (!listed) log_warning("builtin", "some runs of tools stay for now: " + listed.error().message);
      for (const process::RunStatus& status : listed.value_or(std::vector<process::RunStatus>()))
        if (const auto name = parse_run_name(status.run); name && !name->tool.empty() && which(*name, status))
          supervisor.release(status.run);
      if (then) then();
    });
  }

  PlaceSettings places() const {
    return {.data_dir = settings_.command.data_dir,
            .home = run::server_variable(settings_.command, "HOME"),
            .readable = readable_};
  }
  const ToolSettings& settings() const { return settings_; }
  const ToolSetParts& parts() const { return parts_; }
  ReadableFolders& readable() { return *readable_; }
  std::vector<std::shared_ptr<const Tool>> tools() const {
    std::vector<std::shared_ptr<const Tool>> all = tools_;
    all.insert(all.end(), agent_tools_.begin(), agent_tools_.end());
    return all;
  }

 private:
  const ToolSettings settings_;
  const ToolSetParts parts_;
  const std::shared_ptr<const run::Options> kept_command_ =
      std::make_shared<run::Options>(settings_.command);  // For looks.
  FileMemory memory_;
  std::shared_ptr<ReadableFolders> readable_ = std::make_shared<ReadableFolders>();
  std::shared_ptr<TodoLists> todo_ = make_todo_lists();
  std::vector<std::shared_ptr<const Tool>> tools_;
  std::vector<std::shared_ptr<const Tool>> agent_tools_;
};

void Turn::prepare(std::move_only_function<void(std::vector<std::string>)> ready) {
  ready_ = std::move(ready);
  const bool skills = task_->launch.enable_skills || agent_->enable_skills;
  // Also where there is nothing to look for: the answer comes later.
  set_.parts().background.post([&set = set_, task = task_, skills, here = std::weak_ptr(here_), this] {
    FoundSkills found;
    if (skills) {
      ToolContext context;
      context.task = task;
      context.roots = roots_of(*task);
      const Places places(set.places(), context);
      const run::Options& options = set.settings().command;
      found = find_skills({.roots = context.roots,
                           .user_folders = user_skill_folders(run::server_variable(options, "HOME"),
                                                              run::server_variable(options, "XDG_CONFIG_HOME")),
                           .hidden = [&](const std::string& path) { return places.hidden(path); }});
    }
    set.parts().engine.post([found = std::move(found), here, this]() mutable {
      if (!here.expired()) skills_found(std::move(found));
    });
  });
}

void Turn::skills_found(FoundSkills found) {
  warnings_ = std::move(found.warnings);
  std::vector<std::string> folders;
  folders.reserve(found.skills.size());
  for (const Skill& skill : found.skills) folders.push_back(skill.folder);
  set_.readable().set(task_->id, std::move(folders));
  if (!found.skills.empty()) {
    skills_text_ = builtin::skills_text(found.skills);
    skill_tool_ = make_skill_tool(set_.parts().background, set_.parts().engine, std::move(found.skills));
  }
  if ((task_->launch.enable_mcp || agent_->enable_mcp) && !set_.settings().mcp.empty()) return begin_servers();
  choose();
}

// What a server before this one left of them is ended first.
void Turn::begin_servers() {
  set_.release([task = task_->id](const RunName& name,
                                  const process::RunStatus&) { return name.task == task && name.tool == "mcp"; },
               [this, here = std::weak_ptr(here_)] {
                 if (here.expired()) return;
                 servers_ = std::make_unique<mcp::Servers>(set_.settings(), set_.parts(), task_);
                 servers_->begin([this](std::vector<std::string> warnings) {
                   std::ranges::move(warnings, std::back_inserter(warnings_));
                   choose();
                 });
               });
}

void Turn::choose() {
  std::vector<std::shared_ptr<const Tool>> all = set_.tools();
  if (skill_tool_) all.push_back(skill_tool_);
  if (servers_) std::ranges::copy(servers_->tools(), std::back_inserter(all));
  std::vector<std::string> names, unknown;
  for (const auto& tool : all) names.push_back(tool->spec().name);
  std::vector<std::string> wanted = agent_->tools;
  // Skills and servers that the launch asked for are there whatever the agent names.
  if (!wanted.empty()) wanted.insert(wanted.end(), {"skill", "mcp"});
  std::vector<std::string> chosen = wanted.empty() ? names : chosen_tools(wanted, names, unknown);
  if (wanted.empty() && !set_.settings().fetch.enabled) std::erase(chosen, fetch_name);
  for (const auto& tool : all)
    if (std::ranges::find(chosen, tool->spec().name) != chosen.end()) tools_.push_back(tool);
  for (const std::string& word : unknown)
    warnings_.push_back(fmt::format("The agent {} names a tool \"{}\" that does not exist.", agent_->name, word));
  if (!find("skill")) skills_text_.clear();
  if (auto ready = std::exchange(ready_, nullptr)) ready(std::move(warnings_));
}

void Turn::close(std::move_only_function<void()> gone) {
  if (servers_) return servers_->close(std::move(gone));
  set_.parts().engine.post([gone = std::move(gone), here = std::weak_ptr(here_)]() mutable {
    if (!here.expired()) gone();
  });
}

}  // namespace

std::unique_ptr<ToolSet> make_tool_set(ToolSettings settings, ToolSetParts parts) {
  return std::make_unique<Set>(std::move(settings), parts);
}

}  // namespace errand::builtin
