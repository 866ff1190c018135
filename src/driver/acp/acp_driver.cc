#include "driver/acp/acp_driver.h"

#include <array>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "driver/acp/acp_turn.h"
#include "driver/find_program.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"

namespace errand::acp {

namespace {

class AcpDriver final : public Driver {
 public:
  AcpDriver(AcpOptions options, AcpParts parts) : options_(std::move(options)), parts_(parts) {
    if (!options_.command.open_journal)
      options_.command.open_journal = [folder = options_.command.data_dir](const std::string& run) {
        return process::Journal::open(process::run_folder(folder, run));
      };
    kept_options_ = std::make_shared<run::Options>(options_.command);
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
      return fail(Code::unsupported,
                  "Agents over ACP do not run in errand's sandbox: they need their own keys and folders. Launch it "
                  "with sandbox \"off\", or use the agent \"builtin\".");
    return run::check_surroundings(parts_.supervisor.abilities(), launch);
  }
  Look look(const Launch& launch) const override {
    return run::look_at_folders(kept_options_, parts_.supervisor.abilities(), launch);
  }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    const auto option = request.agent->options.find("command");
    if (option == request.agent->options.end())
      return fail(Code::invalid_argument,
                  fmt::format("The agent \"{}\" does not say which program it is: set its command, e.g. command = "
                              "[\"goose\", \"acp\"].",
                              request.agent->name));
    Result<std::vector<std::string>> argv = command_words(option->second);
    if (!argv) return std::unexpected(argv.error());
    Result<State> state = request.reattach ? decode(request.task->checkpoint) : State();
    if (!state) return std::unexpected(state.error());
    return std::make_unique<AcpTurn>(options_, parts_, std::move(request), std::move(*state), std::move(*argv), sink);
  }
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    parts_.supervisor.list([done = std::move(done)](Result<std::vector<process::RunStatus>> listed) mutable {
      std::vector<KnownRun> runs;
      if (!listed) log_warning("acp", "the supervisor's runs are not known: " + listed.error().message);
      for (const process::RunStatus& status : listed ? *listed : std::vector<process::RunStatus>())
        if (const auto name = parse_run_name(status.run); name && name->tool.empty())
          runs.push_back({.task = name->task, .run = name->run, .alive = status.alive});
      done(std::move(runs));
    });
  }
  void end_run(const TaskId& task, int run) override { parts_.supervisor.stop(run_name(task, run)); }
  void forget(const TaskId& task) override {
    parts_.supervisor.list([&supervisor = parts_.supervisor, task](Result<std::vector<process::RunStatus>> listed) {
      if (!listed) return log_warning("acp", "the runs of a removed task stay for now: " + listed.error().message);
      for (const process::RunStatus& status : *listed)
        if (const auto name = parse_run_name(status.run); name && name->task == task) supervisor.release(status.run);
    });
  }

 private:
  AcpOptions options_;
  AcpParts parts_;
  std::shared_ptr<const run::Options> kept_options_;  // For looks, which may outlive this.
};

struct Known {
  const char* id;
  const char* program;
  const char* words;  // Behind the program.
  const char* mode;   // Where its own default is not to ask anybody.
  const char* description;
  const char* login;  // What a person types to log in.
  // Where this is on PATH and the program is not, the agent is listed, and says what to install.
  const char* beside = "";
  const char* install = "";
};
constexpr auto known_agents = std::to_array<Known>({
    {"gemini", "gemini", "--acp", "", "Gemini CLI, as you have it set up.", "gemini"},
    {"codex", "codex-acp", "", "workspace-write", "Codex, through its adapter codex-acp, as you have it set up.",
     "codex login", "codex", "npm install -g @agentclientprotocol/codex-acp"},
    {"acp:claude", "claude-agent-acp", "", "", "Claude Code, through its adapter claude-agent-acp.", "claude /login"},
    {"acp:opencode", "opencode", "acp", "", "OpenCode, with a process of its own for each turn.",
     "opencode auth login"},
});

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
  for (const Known& known : known_agents) {
    const std::string program = find_program(environment, known.program);
    const bool beside = *known.beside != 0 && !find_program(environment, known.beside).empty();
    if (program.empty() && !beside) continue;
    Agent agent{.id = known.id, .name = known.id, .driver = "acp", .description = known.description};
    if (program.empty()) {
      agent.unavailable =
          fmt::format("It needs {}, which is not on the server's PATH: {}, then start the server again.", known.program,
                      known.install);
      agents.push_back(std::move(agent));
      continue;
    }
    boost::json::array command = {program};
    if (*known.words != 0) command.emplace_back(known.words);
    agent.options["command"] = boost::json::serialize(command);
    agent.options["login"] = known.login;
    if (*known.mode != 0) agent.options["mode"] = known.mode;
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace errand::acp
