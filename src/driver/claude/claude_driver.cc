#include "driver/claude/claude_driver.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include "base/beside.h"
#include "base/log.h"
#include "driver/claude/claude_turn.h"
#include "driver/claude/history.h"
#include "driver/claude/wire.h"
#include "driver/conversations.h"
#include "driver/model_list.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"

namespace errand::claude {
namespace {

constexpr program::Kind kind = {
    .driver = "claude",
    .area = "claude",
    .tool = "claude",
    .no_sandbox =
        "Claude Code keeps its conversations and its login in the home folder, which errand's sandbox hides."};

constexpr int64_t history_max = 64 << 20;

// As Claude Code names its conversations.
bool is_uuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool digit = (id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'f');
    if (dash ? id[i] != '-' : !digit) return false;
  }
  return true;
}

namespace fs = std::filesystem;

// Empty: there is none. Blocking.
fs::path find_conversation(const std::string& folder, const std::string& session) {
  std::error_code error;
  for (const fs::directory_entry& project : fs::directory_iterator(folder + "/projects", error)) {
    fs::path file = project.path() / (session + ".jsonl");
    if (std::error_code ignored; fs::is_regular_file(file, ignored)) return file;
  }
  return {};
}

Result<std::vector<Message>> read_conversation(const std::string& folder, const std::string& session) {
  const fs::path file = find_conversation(folder, session);
  std::error_code error;
  const uintmax_t size = file.empty() ? 0 : fs::file_size(file, error);
  if (file.empty() || error)
    return fail(Code::not_found,
                "There is no such conversation: neither of errand's own nor in Claude Code (~/.claude).");
  if (size > history_max)
    return fail(Code::too_large, "The conversation in Claude Code is too long to be read: launch without a fork.");
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return read_history(text);
}

// What the program has beside what every command has, and not what marks the conversation that the server itself is in.
run::Options for_program(run::Options options) {
  for (std::string& name : environment_names()) options.env_allow.push_back(std::move(name));
  std::erase_if(options.environment, [](const std::string& variable) { return is_session_mark(variable); });
  return options;
}

// A shell or a helper in the background has ended: Claude Code says so, and begins a turn of its own.
program::Heard hear(std::string_view line) {
  const Event event = parse_line(line);
  program::Heard heard{.begins = event.type == Event::Type::init};
  if (event.type == Event::Type::notification) heard.why = event.text;
  if (event.type == Event::Type::background) heard.busy = event.count + event.shells > 0;
  return heard;
}

class ClaudeDriver final : public program::ProgramDriver, public Conversations, public ModelList {
 public:
  ClaudeDriver(Options options, Parts parts)
      : ProgramDriver(kind, for_program(options.command),
                      {.supervisor = parts.supervisor,
                       .timers = parts.timers,
                       .files = parts.files,
                       .engine = parts.engine,
                       .artifacts = parts.artifacts,
                       .programs = parts.programs},
                      options.kept, {.hear = hear, .ask = options.ask_for_turn}),
        options_(std::move(options)),
        parts_(parts) {
    options_.command = ProgramDriver::options();
    folder_ = run::server_variable(options_.command, "CLAUDE_CONFIG_DIR");
    if (folder_.empty()) folder_ = run::server_variable(options_.command, "HOME") + "/.claude";
  }

  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override;
  void forget(const TaskId& task) override {
    ProgramDriver::forget(task);
    beside_.run([file = servers_of(task)] { return ::unlink(file.c_str()); }, [](int) {});
  }

  // The sessions that people have in Claude Code. A fork of one has it as a transcript, cut to errand's limits, for
  // Claude Code's own fork cannot be cut.
  bool may_have(const SessionId& session) const override { return is_uuid(session.value); }
  void has(const SessionId& session, std::move_only_function<void(bool)> done) override {
    beside_.run(
        [folder = folder_, id = session.value] { return is_uuid(id) && !find_conversation(folder, id).empty(); },
        std::move(done));
  }
  bool copies() const override { return false; }
  void read(const SessionId& session, Read done) override {
    beside_.run([folder = folder_, id = session.value] { return read_conversation(folder, id); }, std::move(done));
  }
  // Claude Code has no list to ask for without a conversation; these names it takes whatever models there are.
  void list_models(const Agent&, Listed done) override {
    done(ListedModels{.models = {{.id = "sonnet", .name = "Sonnet, the newest"},
                                 {.id = "opus", .name = "Opus, the newest"},
                                 {.id = "haiku", .name = "Haiku, the newest"},
                                 {.id = "opusplan", .name = "Opus to plan, then Sonnet"}},
                      .by = ListedBy::documentation});
  }

 private:
  std::string servers_of(const TaskId& task) const {
    return options_.command.data_dir + "/claude/" + task.value + ".json";
  }

  Options options_;
  Parts parts_;
  std::string folder_;  // Claude Code's own.
  Beside beside_{parts_.files, parts_.engine};
};

Result<std::unique_ptr<Turn>> ClaudeDriver::open(TurnRequest request, Sink& sink) {
  const Task& task = *request.task;
  Beginning beginning;
  if (has_servers(task, *request.agent) && options_.mcp_servers)
    beginning.servers = {servers_of(task.id), servers_file(options_.mcp_servers(as_program(task)))};
  const auto words = [&](const std::string& session) {
    return words_of(options_.program, task, *request.agent, session, beginning.servers.path);
  };
  process::SpawnRequest& spawn = beginning.spawn = plan(task, words(task.driver_session));
  // An update in the middle of the work helps nobody.
  if (!task.launch.env.contains("DISABLE_AUTOUPDATER")) {
    std::erase_if(spawn.env, [](const std::string& variable) { return variable.starts_with("DISABLE_AUTOUPDATER="); });
    spawn.env.emplace_back("DISABLE_AUTOUPDATER=1");
  }
  process::SpawnRequest first = spawn;
  first.argv = words({});
  beginning.key = key_of(first, {beginning.servers.bytes});
  if (!request.reattach && !task.driver_session.empty()) beginning.kept = holder().take(task.id, beginning.key);
  auto turn = std::make_unique<ClaudeTurn>(options_, parts_, holder(), std::move(request), sink, std::move(beginning));
  if (turn->has_own_program()) release_before(task.id, task.run);
  turn->begin();
  return turn;
}

}  // namespace

std::unique_ptr<Driver> make_claude_driver(Options options, Parts parts) {
  return std::make_unique<ClaudeDriver>(std::move(options), parts);
}

void end_left_programs(process::SupervisorClient& supervisor) {
  supervisor.list([&supervisor](const Result<std::vector<process::RunStatus>>& listed) {
    for (const process::RunStatus& status : listed ? *listed : std::vector<process::RunStatus>())
      if (const auto name = parse_run_name(status.run); status.alive && name && name->tool == kind.tool) {
        log_warning(kind.area, "Claude Code is not found any more: ending " + status.run);
        supervisor.stop(status.run);
      }
  });
}

}  // namespace errand::claude
