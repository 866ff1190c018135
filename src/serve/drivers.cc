#include "serve/drivers.h"

#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/version.h"
#include "driver/acp/acp_driver.h"
#include "driver/builtin/builtin_driver.h"
#include "driver/claude/claude_driver.h"
#include "driver/command/command_driver.h"
#include "driver/fake/demo.h"
#include "driver/find_program.h"
#include "driver/opencode/opencode_driver.h"
#include "driver/run/spawn.h"
#include "process/boot_id.h"
#include "serve/agent_servers.h"
#include "serve/environment.h"
#include "serve/part_settings.h"

namespace errand::serve {

namespace {

program::McpServers servers_for(const DriverParts& parts, const Settings& settings) {
  return [settings, reach = parts.reach](const Task& task) {
    return agent_servers(settings, Environment::get().map(), reach(task), task);
  };
}

std::function<program::Holder::Bounds()> kept_of(const Settings& settings) {
  return [bounds = program::Holder::Bounds{
              .idle_ms = settings.warm_ms, .most = settings.warm_max, .busy_ms = settings.warm_background_ms}] {
    return bounds;
  };
}

}  // namespace

Drivers::Drivers(Clock& clock) : programs_({"claude", "acp", "opencode"}, clock) {}

Result<std::unique_ptr<Drivers>> Drivers::make(const DriverParts& parts, const Settings& settings,
                                               const EngineSettings& engine) {
  Ground& ground = parts.ground;
  std::unique_ptr<Drivers> made(new Drivers(ground.clock));
  made->fork_ = engine.fork;
  made->watch_changes_ = engine.watch_changes;
  made->changes_ = {.max_bytes = engine.changes_max_bytes, .keep_ms = engine.changes_keep_ms};
  made->command_options_ = {.data_dir = parts.data_dir,
                            .environment = Environment::get().list(),
                            .env_allow = settings.env_allow,
                            .work_dirs = settings.work_dirs,
                            .umask = static_cast<int>(std::strtol(settings.child_umask.c_str(), nullptr, 8)),
                            .default_timeout_ms = engine.command_timeout_ms,
                            .output_limit = engine.output_limit,
                            .artifacts = {.bytes = settings.artifacts_max_bytes, .files = settings.artifacts_max_files},
                            .boot = process::boot_id(),
                            .reach = parts.reach};
  made->program_options_ = made->command_options_;
  made->program_options_.environment = parts.environment;
  made->command_ = command::make_command_driver(made->command_options_, {.supervisor = parts.supervisor,
                                                                         .timers = ground.timers,
                                                                         .background = ground.background,
                                                                         .engine = ground.loop.get(),
                                                                         .files = &ground.files,
                                                                         .folders = &ground.folders});
  made->demo_ = fake::make_demo_driver(ground.timers);
  if (Status built = made->make_builtin(parts, settings); !built) return std::unexpected(built.error());
  made->make_opencode(parts);
  made->make_claude(parts, settings);
  made->make_acp(parts, settings);
  made->watch_options_ = std::make_shared<run::Options>(made->command_options_);
  made->make_orders(parts);
  made->put_watch(parts, "command", *made->command_);
  made->put_watch(parts, "builtin", *made->builtin_);
  made->put_watch(parts, "demo", *made->demo_);
  made->put_watch(parts, "acp", *made->acp_);
  if (made->opencode_) made->put_watch(parts, "opencode", *made->opencode_);
  if (made->claude_) made->put_watch(parts, "claude", *made->claude_);
  return made;
}

ModelList* Drivers::model_list(const std::string& driver) const {
  // The drivers themselves: the watch in front of them knows nothing of models.
  const std::pair<std::string_view, Driver*> own[] = {
      {"builtin", builtin_.get()}, {"opencode", opencode_.get()}, {"claude", claude_.get()}, {"acp", acp_.get()}};
  for (const auto& [name, made] : own)
    if (name == driver) return dynamic_cast<ModelList*>(made);
  return nullptr;
}

// git is asked by this very program, also where its file was replaced meanwhile.
void Drivers::make_orders(const DriverParts& parts) {
  watched::OrderOptions options{.data_dir = parts.data_dir,
                                .program = fmt::format("/proc/{}/exe", ::getpid()),
                                .home = run::server_variable(command_options_, "HOME"),
                                .environment = {},
                                .bounds = [this] { return changes_; }};
  // What the git program needs, and who writes a commit: nothing else of the server's.
  for (const char* name : {"HOME", "PATH", "USER", "LOGNAME", "XDG_CONFIG_HOME", "TMPDIR"})
    if (std::string value = run::server_variable(command_options_, name); !value.empty())
      options.environment.push_back(std::string(name) + "=" + value);
  orders_ = std::make_unique<watched::Orders>(std::move(options), watched::OrderParts{.supervisor = parts.supervisor,
                                                                                      .files = parts.ground.files,
                                                                                      .engine = *parts.ground.loop,
                                                                                      .clock = parts.ground.clock,
                                                                                      .timers = parts.ground.timers});
}

// A command is to begin at once, and the demonstration changes nothing: they are watched only where all is.
void Drivers::put_watch(const DriverParts& parts, const std::string& name, Driver& driver) {
  const bool edits = &driver != command_.get() && &driver != demo_.get();
  watched::WatchOptions options{.watch =
                                    [this, edits] {
                                      if (watch_changes_ == "all") return watched::Watch::folders;
                                      const bool wanted = edits && watch_changes_ == "agents";
                                      return wanted ? watched::Watch::repositories : watched::Watch::off;
                                    },
                                .data_dir = &driver == command_.get() ? parts.data_dir : std::string()};
  Driver& front = *watching_.emplace_back(watched::make_watched_driver(driver, std::move(options),
                                                                       {.orders = *orders_,
                                                                        .timers = parts.ground.timers,
                                                                        .folders = parts.ground.folders,
                                                                        .engine = *parts.ground.loop,
                                                                        .supervisor = parts.supervisor,
                                                                        .options = watch_options_}));
  all_.emplace(name, &front);
}

Status Drivers::make_builtin(const DriverParts& parts, const Settings& settings) {
  Ground& ground = parts.ground;
  const std::map<std::string, std::string> environment = Environment::get().map();
  Result<builtin::ModelDirectory> models = builtin::ModelDirectory::make(model_setups(settings), environment);
  if (!models) return std::unexpected(models.error());
  http::Options http_options = http::options_from_environment(environment);
  http_options.user_agent = fmt::format("errand/{}", version);
  http_ = http::make_client(*ground.loop, std::move(http_options));
  models_ = model::make_models(*http_, ground.timers, ground.clock, ground.random);
  tool_set_ = builtin::make_tool_set(
      {.command = command_options_,
       .fetch = {.enabled = settings.fetch_enabled, .allow_private = settings.fetch_allow_private},
       .mcp = mcp_servers(settings)},
      {.supervisor = parts.supervisor,
       .timers = ground.timers,
       .background = ground.background,
       .engine = *ground.loop,
       .clock = ground.clock,
       .random = ground.random,
       .http = http_.get(),
       .agent_tools = &parts.agent_tools});
  default_model_.unavailable = models->unavailable();
  if (Result<builtin::ModelChoice> choice = models->choose("")) default_model_.name = choice->model;
  builtin_ = builtin::make_builtin_driver(std::move(*models), {.models = *models_,
                                                               .http = http_.get(),
                                                               .tools = *tool_set_,
                                                               .timers = ground.timers,
                                                               .clock = ground.clock,
                                                               .random = ground.random,
                                                               .loop = *ground.loop,
                                                               .background = ground.calls,
                                                               .files = command_.get()});
  return {};
}

// Where it is installed.
void Drivers::make_opencode(const DriverParts& parts) {
  Ground& ground = parts.ground;
  std::string program = opencode::find_opencode(program_options_.environment);
  if (program.empty()) return;
  opencode_ = opencode::make_opencode_driver({.data_dir = parts.data_dir,
                                              .program = std::move(program),
                                              .environment = program_options_.environment,
                                              .fork_limits = [this] { return fork_; }},
                                             {.supervisor = parts.supervisor,
                                              .http = *http_,
                                              .timers = ground.timers,
                                              .clock = ground.clock,
                                              .random = ground.random,
                                              .files = &ground.files,
                                              .background = &ground.calls,
                                              .engine = ground.loop.get(),
                                              .programs = &programs_});
}

// Where it is installed.
void Drivers::make_claude(const DriverParts& parts, const Settings& settings) {
  Ground& ground = parts.ground;
  std::string program = find_program(program_options_.environment, "claude");
  if (program.empty()) return claude::end_left_programs(parts.supervisor);
  claude_ = claude::make_claude_driver({.command = program_options_,
                                        .program = std::move(program),
                                        .mcp_servers = servers_for(parts, settings),
                                        .kept = kept_of(settings),
                                        .ask_for_turn = parts.ask_for_turn},
                                       {.supervisor = parts.supervisor,
                                        .timers = ground.timers,
                                        .clock = ground.clock,
                                        .random = ground.random,
                                        .files = &ground.files,
                                        .engine = ground.loop.get(),
                                        .artifacts = command_.get(),
                                        .programs = &programs_});
}

void Drivers::make_acp(const DriverParts& parts, const Settings& settings) {
  Ground& ground = parts.ground;
  acp_ = acp::make_acp_driver({.command = program_options_,
                               .version = std::string(version),
                               .mcp_servers = servers_for(parts, settings),
                               .kept = kept_of(settings),
                               .ask_for_turn = parts.ask_for_turn,
                               .fork_limits = [this] { return fork_; }},
                              {.supervisor = parts.supervisor,
                               .timers = ground.timers,
                               .clock = ground.clock,
                               .files = &ground.files,
                               .background = &ground.calls,
                               .engine = ground.loop.get(),
                               .artifacts = command_.get(),
                               .programs = &programs_});
}

}  // namespace errand::serve
