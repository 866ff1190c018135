#include "driver/acp/acp_driver.h"

#include <functional>
#include <map>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "driver/acp/acp_turn.h"
#include "driver/find_program.h"
#include "driver/model_list.h"
#include "driver/run_name.h"
#include "programs/known.h"

namespace errand::acp {

namespace {

constexpr program::Kind kind = {.driver = "acp",
                                .area = "acp",
                                .tool = "",
                                .no_sandbox =
                                    "Agents over ACP do not run in errand's sandbox: they need their own "
                                    "keys and folders."};

// What comes late is the rest of the turn: not every agent has said all when it answers a prompt.
constexpr Millis settle_ms = 2'000;

// The protocol knows no work without a prompt, and no word for its beginning: what an agent says or asks then is it.
// What it says of a call may be late news of an old one.
program::Heard hear(std::string_view line) {
  const Incoming in = parse_incoming(line);
  const bool updates = in.kind == Incoming::Kind::update;
  return {.begins = (updates && in.update.type == Update::Type::text) || in.kind == Incoming::Kind::permission,
          .leads = updates && (in.update.type == Update::Type::thought || in.update.type == Update::Type::call)};
}

class AcpDriver final : public program::ProgramDriver, public ModelList {
 public:
  AcpDriver(AcpOptions options, AcpParts parts)
      : ProgramDriver(kind, options.command,
                      {.supervisor = parts.supervisor,
                       .timers = parts.timers,
                       .files = parts.files,
                       .engine = parts.engine,
                       .artifacts = parts.artifacts,
                       .programs = parts.programs},
                      options.kept, {.hear = hear, .ask = options.ask_for_turn, .settle_ms = settle_ms}),
        options_(std::move(options)),
        parts_(parts) {
    options_.command = ProgramDriver::options();
  }

  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override;
  // Runs of its terminals that a turn has left behind are runs of tools, which the built-in agent's driver ends after a
  // restart, as all that no task at work owns (builtin/tools/tool_set.h). With the task they go here.
  void forget(const TaskId& task) override {
    ProgramDriver::forget(task);
    parts_.supervisor.list(
        [&supervisor = parts_.supervisor, task](const Result<std::vector<process::RunStatus>>& runs) {
          for (const process::RunStatus& status : runs ? *runs : std::vector<process::RunStatus>())
            if (const auto name = parse_run_name(status.run); name && name->task == task && name->tool == terminal_tool)
              supervisor.release(status.run);
        });
  }

  // The protocol has a list for a session alone. So that nobody's look opens one (a login, a file of the agent's, a
  // model server), it is what the last session of this program offered.
  void list_models(const Agent& agent, Listed done) override {
    const auto said = offered_.find(command_of(agent));
    if (said == offered_.end())
      return done(fail(
          Code::unavailable,
          fmt::format("{} says which models it has when it works: they are listed after its first task.", agent.name),
          "no_models"));
    done(ListedModels{.models = said->second, .by = ListedBy::program});
  }

 private:
  static std::string command_of(const Agent& agent) {
    const auto option = agent.options.find("command");
    return option == agent.options.end() ? std::string() : option->second;
  }
  void offers(const std::string& command, const std::vector<std::string>& models) {
    if (!offered_.contains(command) && offered_.size() >= programs_max) return;
    std::vector<ListedModel>& list = offered_[command];
    list.clear();
    for (const std::string& model : models)
      if (!model.empty() && model.size() <= listed_model_name_max && list.size() < listed_models_max)
        list.push_back({.id = model, .name = {}});
  }

  static constexpr size_t programs_max = 100;  // More than anybody has; each is a list in memory.

  AcpOptions options_;
  AcpParts parts_;
  std::map<std::string, std::vector<ListedModel>> offered_;  // By the agents' commands.
};

// What an agent must not have from us: ours is ours, and an agent is not inside of another one.
bool is_kept_back(std::string_view variable) {
  return variable.starts_with("ERRAND_") || variable.starts_with("CLAUDECODE=") ||
         variable.starts_with("CLAUDE_CODE_ENTRYPOINT=") || variable.starts_with("CLAUDE_CODE_SESSION_ID=");
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=') + 1); }

Result<std::unique_ptr<Turn>> AcpDriver::open(TurnRequest request, Sink& sink) {
  const Task& task = *request.task;
  const Agent& agent = *request.agent;
  const std::string command = command_of(agent);
  if (command.empty())
    return fail(Code::invalid_argument,
                fmt::format("The agent \"{}\" does not say which program it is: set its command, e.g. command = "
                            "[\"goose\", \"acp\"].",
                            agent.name));
  Result<std::vector<std::string>> argv = command_words(command);
  if (!argv) return std::unexpected(argv.error());
  Result<State> state = request.reattach ? decode(task.checkpoint) : State();
  if (!state) return std::unexpected(state.error());
  Beginning beginning{.spawn = plan(task, std::move(*argv))};
  beginning.offered = [this, command](const std::vector<std::string>& models) { offers(command, models); };
  std::vector<std::string>& env = beginning.spawn.env;
  std::set<std::string, std::less<>> named;
  for (const std::string& variable : env) named.emplace(name_of(variable));
  for (const std::string& variable : options_.command.environment)
    if (!is_kept_back(variable) && !named.contains(name_of(variable))) env.push_back(variable);
  if ((task.launch.enable_mcp || agent.enable_mcp) && options_.mcp_servers)
    beginning.servers = options_.mcp_servers(as_program(task));
  // What its session was opened with.
  std::vector<std::string> more = task.launch.add_dirs;
  const auto mode = agent.options.find("mode");
  more.insert(more.end(), {task.launch.model, agent.model, mode == agent.options.end() ? "" : mode->second,
                           beginning.servers.empty() ? "" : "servers"});
  beginning.key = key_of(beginning.spawn, more);
  if (!request.reattach && !task.driver_session.empty()) {
    std::optional<program::Kept> kept = holder().take(task.id, beginning.key);
    Result<State> before = kept ? decode(kept->state) : State();
    if (kept && before) {
      state = go_on_after(std::move(*before), *kept);
      beginning.kept = true;
      beginning.began = kept->began;
    }
  }
  if (state->run.empty()) release_before(task.id, task.run);
  return std::make_unique<AcpTurn>(options_, parts_, holder(), std::move(request), std::move(*state),
                                   std::move(beginning), sink);
}

}  // namespace

std::unique_ptr<Driver> make_acp_driver(AcpOptions options, AcpParts parts) {
  return std::make_unique<AcpDriver>(std::move(options), parts);
}

Result<std::vector<std::string>> command_words(std::string_view text) {
  std::vector<std::string> words;
  text = trim(text);
  if (text.starts_with('[')) {
    boost::system::error_code error;
    const boost::json::value list = boost::json::parse(text, error);
    if (const boost::json::array* array = error ? nullptr : list.if_array())
      for (const boost::json::value& word : *array)
        if (word.is_string()) words.emplace_back(word.get_string());
    if (words.empty() || words.front().empty() || words.size() != list.as_array().size())
      return fail(Code::invalid_argument, "The agent's command must be a list of words, the program first.");
    return words;
  }
  char quote = 0;
  bool inside = false;
  for (const char c : text) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  if (quote != 0 || words.empty() || words.front().empty())
    return fail(Code::invalid_argument, "The agent's command is empty, or a quote in it is not closed.");
  return words;
}

std::vector<Agent> found_agents(const std::vector<std::string>& environment) {
  std::vector<Agent> agents;
  for (const programs::Known& known : programs::all()) {
    if (std::string_view(known.driver) != "acp") continue;
    const std::string program = find_program(environment, known.program);
    const bool beside = *known.beside != 0 && !find_program(environment, known.beside).empty();
    if (program.empty() && !beside) continue;
    Agent agent{.id = known.agent, .name = known.agent, .driver = known.driver, .description = known.description};
    if (program.empty()) {
      agent.unavailable =
          fmt::format("It needs {}, which is not on the server's PATH: {}, then start the server again.", known.program,
                      known.install);
      agents.push_back(std::move(agent));
      continue;
    }
    boost::json::array command = {program};
    for (const std::string_view word : split(known.words, ' '))
      if (!word.empty()) command.emplace_back(word);
    agent.options["command"] = boost::json::serialize(command);
    agent.options["login"] = known.login;
    if (*known.mode != 0) agent.options["mode"] = known.mode;
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace errand::acp
