#include "driver/claude/claude_driver.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/beside.h"
#include "base/log.h"
#include "driver/claude/claude_turn.h"
#include "driver/claude/history.h"
#include "driver/conversations.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"

namespace errand::claude {
namespace {

constexpr const char* run_tool = "claude";

std::string run_of(const TaskId& task, int run) { return errand::run_name({task, run, run_tool, "0"}); }

constexpr int64_t history_max = 64 << 20;

// As Claude Code names its conversations. Which of them are there is found out where one is read: that may take a
// while.
bool is_uuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool digit = (id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'f');
    if (dash ? id[i] != '-' : !digit) return false;
  }
  return true;
}

Result<std::vector<Message>> read_conversation(const std::string& folder, const std::string& session) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::directory_entry& project : fs::directory_iterator(folder + "/projects", error)) {
    const fs::path file = project.path() / (session + ".jsonl");
    const uintmax_t size = fs::file_size(file, error);
    if (error) continue;
    if (size > history_max)
      return fail(Code::too_large, "The conversation in Claude Code is too long to be read: launch without a fork.");
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return read_history(text);
  }
  return fail(Code::not_found,
              "There is no such conversation: neither of errand's own nor in Claude Code (~/.claude).");
}

class ClaudeDriver final : public Driver, public Conversations {
 public:
  ClaudeDriver(Options options, Parts parts) : options_(std::move(options)), parts_(parts) {
    for (std::string& name : environment_names()) options_.command.env_allow.push_back(std::move(name));
    std::erase_if(options_.command.environment, [](const std::string& variable) { return is_session_mark(variable); });
    if (!options_.command.open_journal)
      options_.command.open_journal = [folder = options_.command.data_dir](const std::string& run) {
        return process::Journal::open(process::run_folder(folder, run));
      };
    kept_ = std::make_shared<run::Options>(options_.command);
    folder_ = run::server_variable(options_.command, "CLAUDE_CONFIG_DIR");
    if (folder_.empty()) folder_ = run::server_variable(options_.command, "HOME") + "/.claude";
  }

  Capabilities capabilities() const override {
    return {.message_while_running = true,
            .resume = true,
            .fork = true,
            .reattach = true,
            .keeps_message = true,
            .permissions = true};
  }
  Status check(const Launch& launch) const override {
    if (launch.kind != TaskKind::agent)
      return fail(Code::invalid_argument, "This agent takes a prompt; commands are run by the agent \"command\".");
    if (launch.sandbox != Sandbox::off)
      return fail(Code::invalid_argument,
                  "Claude Code keeps its conversations and its login in the home folder, which errand's sandbox hides. "
                  "Launch it without --sandbox, or use the agent \"builtin\".");
    return run::check_surroundings(parts_.supervisor.abilities(), launch);
  }
  Look look(const Launch& launch) const override {
    return run::look_at_folders(kept_, parts_.supervisor.abilities(), launch);
  }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override;

  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    ours([done = std::move(done)](const std::vector<std::pair<RunName, bool>>& runs) mutable {
      std::vector<KnownRun> known;
      for (const auto& [run, alive] : runs) known.push_back({.task = run.task, .run = run.run, .alive = alive});
      done(std::move(known));
    });
  }
  void end_run(const TaskId& task, int run) override { parts_.supervisor.release(run_of(task, run)); }
  void forget(const TaskId& task) override {
    ours([&supervisor = parts_.supervisor, task](const std::vector<std::pair<RunName, bool>>& runs) {
      for (const auto& [run, alive] : runs)
        if (run.task == task) supervisor.release(run_of(run.task, run.run));
    });
    if (parts_.artifacts) parts_.artifacts->forget(task);
  }

  // The sessions that people have in Claude Code. A fork of one has it as a transcript, cut to errand's limits, for
  // Claude Code's own fork cannot be cut.
  bool may_have(const SessionId& session) const override { return is_uuid(session.value); }
  // Whether there is one is found out when it is read: nobody else's sessions look like this.
  void has(const SessionId& session, std::move_only_function<void(bool)> done) override {
    beside_.run([known = is_uuid(session.value)] { return known; }, std::move(done));
  }
  bool copies() const override { return false; }
  void read(const SessionId& session, Read done) override {
    beside_.run([folder = folder_, id = session.value] { return read_conversation(folder, id); }, std::move(done));
  }

  // Its commands have the same folder for artifacts as a command task has.
  Result<ArtifactList> artifacts(const Task& task) const override {
    return parts_.artifacts ? parts_.artifacts->artifacts(task) : Driver::artifacts(task);
  }
  void gather(std::shared_ptr<const Task> task, Gathered done) override {
    if (!parts_.artifacts) return Driver::gather(std::move(task), std::move(done));
    parts_.artifacts->gather(std::move(task), std::move(done));
  }
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override {
    return parts_.artifacts ? parts_.artifacts->open_artifact(task, id_or_name)
                            : Driver::open_artifact(task, id_or_name);
  }

 private:
  void ours(std::move_only_function<void(const std::vector<std::pair<RunName, bool>>&)> done) {
    parts_.supervisor.list([done = std::move(done)](Result<std::vector<process::RunStatus>> listed) mutable {
      if (!listed) return log_warning("claude", "the supervisor's runs are not known: " + listed.error().message);
      std::vector<std::pair<RunName, bool>> runs;
      for (const process::RunStatus& status : *listed)
        if (std::optional<RunName> run = parse_run_name(status.run); run && run->tool == run_tool)
          runs.emplace_back(*std::move(run), status.alive);
      done(runs);
    });
  }

  Options options_;
  Parts parts_;
  std::shared_ptr<const run::Options> kept_;  // For looks.
  std::string folder_;                        // Claude Code's own.
  Beside beside_{parts_.files, parts_.engine};
};

Result<std::unique_ptr<Turn>> ClaudeDriver::open(TurnRequest request, Sink& sink) {
  const Task& task = *request.task;
  run::Spawn spawn = run::plan_spawn(options_.command, task, run_of(task.id, task.run),
                                     words_of(options_.programs, task, *request.agent, task.driver_session));
  spawn.request.timeout_ms = 0;  // The engine's: a turn may wait for a person.
  // An update in the middle of the work helps nobody.
  if (!task.launch.env.contains("DISABLE_AUTOUPDATER")) {
    std::erase_if(spawn.request.env,
                  [](const std::string& variable) { return variable.starts_with("DISABLE_AUTOUPDATER="); });
    spawn.request.env.emplace_back("DISABLE_AUTOUPDATER=1");
  }
  // What the turn before left is stored.
  if (!request.reattach && task.run > 1) parts_.supervisor.release(run_of(task.id, task.run - 1));
  auto turn = std::make_unique<ClaudeTurn>(options_, parts_, std::move(request), sink, std::move(spawn.request));
  turn->begin();
  return turn;
}

}  // namespace

std::unique_ptr<Driver> make_claude_driver(Options options, Parts parts) {
  return std::make_unique<ClaudeDriver>(std::move(options), parts);
}

}  // namespace errand::claude
