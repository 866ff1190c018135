// Builds the real objects and connects them. With main_*.h the only file that names concrete classes.
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "base/timers.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/opencode.h"
#include "cli/serve.h"
#include "cli/settings.h"
#include "driver/builtin/builtin_driver.h"
#include "driver/builtin/tools/tool_set.h"
#include "driver/command/command_driver.h"
#include "driver/fake/demo.h"
#include "driver/opencode/opencode_driver.h"
#include "engine/engine.h"
#include "http/client.h"
#include "main_agents.h"
#include "main_settings.h"
#include "main_tools.h"
#include "mcp/http.h"
#include "mcp/protocol.h"
#include "model/model.h"
#include "net/auth.h"
#include "net/loop.h"
#include "net/page.h"
#include "net/routes/routes.h"
#include "net/server.h"
#include "net/sse.h"
#include "net/token.h"
#include "net/tokens.h"
#include "process/client.h"
#include "process/supervisor.h"
#include "store/sqlite/sqlite_store.h"
#include "tools/family.h"
#include "tools/toolbox.h"

namespace errand {
namespace {

constexpr int reader_threads = 2;
constexpr int background_threads = 2;  // For copying and removing files, which nobody's request waits behind.
constexpr int call_threads = 2;        // For what agents' calls need: short work, which is not to wait behind a search.

std::map<std::string, std::string> environment_map() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

std::vector<std::string> environment_list() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

struct Address {
  std::string host;
  int port = 0;
};

// "127.0.0.1:4747", "[::1]:0", "localhost:80".
Result<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  Address address;
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    address.host = host;
    if (error == std::errc() && end == port.data() + port.size() && !address.host.empty() && address.port >= 0 &&
        address.port <= 65'535)
      return address;
  }
  return fail(Code::invalid_argument,
              fmt::format("\"{}\" is no address to listen on; write it as 127.0.0.1:4747.", text));
}

// Nobody else reads what we write, a crash leaves no memory image, and there are as many descriptors as we may have.
void harden_process() {
  umask(077);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

Status make_data_dir(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(Code::unavailable, fmt::format("The data folder {} cannot be made: {}.", path, error.message()));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return fail(Code::unavailable, fmt::format("The data folder {} is not a folder.", path));
  if (info.st_uid != geteuid())
    return fail(Code::forbidden, fmt::format("The data folder {} belongs to another user.", path));
  if ((info.st_mode & 077) != 0 && chmod(path.c_str(), 0700) != 0)
    return fail(Code::forbidden, fmt::format("Others may read the data folder {}; chmod it to 700.", path));
  return {};
}

// What server.json holds, and `serve --json` prints.
std::string about_server(const std::string& url) {
  std::string text;
  JsonOut(text).object().field("pid", static_cast<int64_t>(getpid())).field("url", url).field("version", version).end();
  return text + "\n";
}

// Written whole or not at all: clients read it at any time.
Status write_server_file(const std::string& data_dir, const std::string& text) {
  const std::string path = data_dir + "/server.json";
  const std::string temporary = path + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", path, std::strerror(errno)));
  return {};
}

// The server, from its parts. Members are destroyed in reverse order: what refers to others comes after them.
class Application {
 public:
  Application(std::string data_dir, cli::Settings settings, bool json)
      : data_dir_(std::move(data_dir)), settings_(std::move(settings)), json_(json) {}

  Status open() {
    Result<Address> address = parse_address(settings_.listen);
    if (!address) return std::unexpected(address.error());
    address_ = *address;
    if (!settings_.store.empty())
      return fail(Code::unsupported,
                  "This build keeps its tasks in SQLite alone; leave out --store (PostgreSQL comes with a later one).");
    Result<std::unique_ptr<Store>> store = open_sqlite_store({.path = data_dir_ + "/errand.db"}, *loop_);
    if (!store) return std::unexpected(store.error());
    store_ = std::move(*store);
    log_info("server", store_->describe());
    Result<std::string> token = net::load_or_make_token(data_dir_, random_);
    if (!token) return std::unexpected(token.error());
    tokens_.emplace(*store_, clock_, random_);
    if (Status loaded = tokens_->load(); !loaded) return loaded;
    auth_ = std::make_unique<net::Auth>(net::AuthSettings{.token = *token,
                                                          .hosts = settings_.allow_hosts,
                                                          .behind_proxy = settings_.behind_proxy,
                                                          .ended_sessions = data_dir_ + "/ended-sessions"},
                                        clock_, random_, &*tokens_);
    std::error_code error;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
    auto supervisor = process::connect_supervisor(
        {.data_dir = data_dir_, .self = self, .orphan_ms = settings_.orphan_s * 1'000}, *loop_);
    if (!supervisor) return std::unexpected(supervisor.error());
    supervisor_ = std::move(*supervisor);

    engine_settings_ = engine_settings(settings_);
    const command::CommandOptions command_options{
        .data_dir = data_dir_,
        .environment = environment_list(),
        .env_allow = settings_.env_allow,
        .work_dirs = settings_.work_dirs,
        .umask = static_cast<int>(std::strtol(settings_.child_umask.c_str(), nullptr, 8)),
        .default_timeout_ms = engine_settings_.command_timeout_ms,
        .output_limit = engine_settings_.output_limit,
        .artifacts = {.bytes = settings_.artifacts_max_bytes, .files = settings_.artifacts_max_files},
        .reach = [this](const Task& task) { return reach_for(task); }};
    command_ = command::make_command_driver(command_options, {*supervisor_, timers_, background_, loop_.get()});
    demo_ = fake::make_demo_driver(timers_);
    Result<DefaultModel> model = make_builtin(command_options);
    if (!model) return std::unexpected(model.error());
    std::map<std::string, Driver*> drivers = {
        {"command", command_.get()}, {"builtin", builtin_.get()}, {"demo", demo_.get()}};
    if (std::string program = opencode::find_opencode(command_options.environment); !program.empty()) {
      opencode_ = opencode::make_opencode_driver(
          {.data_dir = data_dir_,
           .program = std::move(program),
           .environment = command_options.environment,
           .fork_limits = [this] { return engine_settings_.fork; }},
          {.supervisor = *supervisor_, .http = *http_, .timers = timers_, .clock = clock_, .random = random_});
      drivers.emplace("opencode", opencode_.get());
    }
    Result<std::vector<Agent>> agents = all_agents(drivers, settings_, *model);
    if (!agents) return std::unexpected(agents.error());
    engine_ = make_engine({.store = *store_,
                           .loop = *loop_,
                           .readers = readers_,
                           .clock = clock_,
                           .random = random_,
                           .drivers = drivers,
                           .agents = std::move(*agents),
                           .wake_at = [this](Time at) { engine_timer_->set(at, [this] { tick_engine(); }); },
                           .faults = {},
                           .pinned = pinned_settings(settings_.given),
                           .settings_changed =
                               [this](const EngineSettings& now) {
                                 if (tools_) tools_->use_family(now.tools_family);
                                 engine_settings_.fork = now.fork;
                               }},
                          engine_settings_);
    timers_.on_earlier([this](Time at) { driver_timer_->set(at, [this] { run_driver_timers(); }); });
    tools_ = std::make_unique<tools::Toolbox>(tools::ToolParts{.engine = *engine_,
                                                               .store = *store_,
                                                               .loop = *loop_,
                                                               .readers = readers_,
                                                               .clock = clock_,
                                                               .family = settings_.tools_family});
    agent_tools_.use(*tools_);
    protocol_ = std::make_unique<mcp::Protocol>(mcp::ProtocolParts{.tools = *tools_,
                                                                   .engine = *engine_,
                                                                   .store = *store_,
                                                                   .loop = *loop_,
                                                                   .readers = readers_,
                                                                   .clock = clock_,
                                                                   .version = std::string(version),
                                                                   .secret = *token});
    mcp_ = std::make_unique<mcp::HttpEndpoint>(
        mcp::HttpParts{.protocol = *protocol_, .random = random_, .heartbeats = heartbeats_});
    make_server();
    return {};
  }

  // Until it is told to stop. Returns the exit code.
  int run() {
    loop_->on_signal({SIGTERM, SIGINT}, [this](int) { stop(); });
    loop_->post([this] {
      engine_->recover([this](Result<void> recovered) {
        Status ready = recovered;
        if (ready) ready = listen();
        if (ready) return;
        log_error("server", ready.error().message);
        exit_code_ = 1;
        loop_->stop();
      });
    });
    loop_->run();
    if (listening_) {
      unlink((data_dir_ + "/server.json").c_str());
      unlink((data_dir_ + "/errand.sock").c_str());
    }
    readers_.stop();
    background_.stop();
    calls_.stop();
    return exit_code_;
  }

 private:
  Result<DefaultModel> make_builtin(const command::CommandOptions& command_options) {
    const std::map<std::string, std::string> environment = environment_map();
    Result<builtin::ModelDirectory> models = builtin::ModelDirectory::make(model_setups(settings_), environment);
    if (!models) return std::unexpected(models.error());
    http::Options http_options = http::options_from_environment(environment);
    http_options.user_agent = fmt::format("errand/{}", version);
    http_ = http::make_client(*loop_, std::move(http_options));
    models_ = model::make_models(*http_, timers_, clock_, random_);
    tool_set_ = builtin::make_tool_set(
        {.command = command_options,
         .fetch = {.enabled = settings_.fetch_enabled, .allow_private = settings_.fetch_allow_private},
         .mcp = mcp_servers(settings_)},
        {.supervisor = *supervisor_,
         .timers = timers_,
         .background = background_,
         .engine = *loop_,
         .clock = clock_,
         .random = random_,
         .http = http_.get(),
         .agent_tools = &agent_tools_});
    DefaultModel model{.unavailable = models->unavailable()};
    if (Result<builtin::ModelChoice> choice = models->choose("")) model.name = choice->model;
    builtin_ = builtin::make_builtin_driver(std::move(*models), {.models = *models_,
                                                                 .http = http_.get(),
                                                                 .tools = *tool_set_,
                                                                 .timers = timers_,
                                                                 .clock = clock_,
                                                                 .random = random_,
                                                                 .loop = *loop_,
                                                                 .background = calls_,
                                                                 .files = command_.get()});
    return model;
  }

  void make_server() {
    routes_ = std::make_unique<net::Routes>(net::RouteParts{
        .engine = *engine_,
        .store = *store_,
        .loop = *loop_,
        .readers = readers_,
        .clock = clock_,
        .heartbeats = heartbeats_,
        .version = std::string(version),
        .authenticated = [this](const net::Request& request) { return auth_->is_known(request); },
        .stats = [this] { return server_->stats(); },
        .means = [this] { return means_of(supervisor_->abilities()); },
        .login = [this](const net::ExchangePtr& exchange) { return auth_->handle(exchange); },
        .page = net::serve_page,
        .tools = tools_.get(),
        .tokens = &*tokens_,
        .mcp = [this](net::ExchangePtr exchange) { mcp_->handle(std::move(exchange)); },
    });
    server_ = net::make_server(*loop_, {}, auth_->head_check(),
                               [this](net::ExchangePtr exchange) { routes_->handle(std::move(exchange)); });
  }

  Status listen() {
    const bool tls = !settings_.tls_cert.empty();
    const auto exposure = settings_.behind_proxy ? net::Exposure::behind_proxy : net::Exposure::loopback_only;
    Result<int> port = tls ? server_->listen_tls(address_.host, address_.port, {settings_.tls_cert, settings_.tls_key})
                           : server_->listen(address_.host, address_.port, exposure);
    if (!port) return fail(port.error().code, fmt::format("listen = {}: {}", settings_.listen, port.error().message));
    auth_->add_port(*port);
    if (Status unix_socket = server_->listen_unix(data_dir_ + "/errand.sock"); !unix_socket) {
      // A folder with a long path has none; everybody else can use the token.
      if (unix_socket.error().code != Code::invalid_argument) return unix_socket;
      log_warning("server", unix_socket.error().message);
    }
    const bool v6 = address_.host.find(':') != std::string::npos;
    url_ = fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", v6 ? "[" : "", address_.host, v6 ? "]" : "", *port);
    const std::string about = about_server(url_);
    if (Status written = write_server_file(data_dir_, about); !written) return written;
    listening_ = true;
    // The one line that programs wait for.
    fmt::print("{}", json_ ? about : fmt::format("errand {} is ready at {}\n", version, url_));
    std::fflush(stdout);
    return {};
  }

  // What runs in a task reaches this server as that task (net/routes/guard.h). A sandbox hides the data folder, so it
  // is told the address.
  StringMap reach_for(const Task& task) const {
    StringMap reach = {{"ERRAND_TOKEN", auth_->task_token(task.id, task.run)}, {"ERRAND_DATA_DIR", data_dir_}};
    if (task.launch.sandbox != Sandbox::off && !url_.empty()) reach["ERRAND_URL"] = url_;
    return reach;
  }

  // SIGTERM: takes no more work, commits, leaves children to the supervisor, and goes. A second one goes at once.
  void stop() {
    if (std::exchange(stopping_, true)) {
      loop_->stop();
      return;
    }
    log_info("server", "stopping; what runs goes on under the supervisor");
    give_up_->set(clock_.steady() + 5'000, [this] { loop_->stop(); });
    engine_->drain([this](Result<void>) { server_->stop(net::farewell(clock_.wall()), [this] { loop_->stop(); }); });
  }

  void tick_engine() {
    const Time next = engine_->tick();
    if (next) engine_timer_->set(next, [this] { tick_engine(); });
  }
  void run_driver_timers() {
    timers_.run_due();
    const Time next = timers_.next_due();
    if (next) driver_timer_->set(next, [this] { run_driver_timers(); });
  }
  const std::string data_dir_;
  const cli::Settings settings_;
  const bool json_;
  Address address_;
  std::string url_;  // Empty until it listens.
  EngineSettings engine_settings_;
  int exit_code_ = 0;
  bool listening_ = false;
  bool stopping_ = false;

  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<net::Loop> loop_ = net::Loop::make();
  std::unique_ptr<net::Timer> engine_timer_ = loop_->timer(), driver_timer_ = loop_->timer(), give_up_ = loop_->timer();
  net::Heartbeats heartbeats_{*loop_};
  ThreadPool readers_{reader_threads};
  ThreadPool background_{background_threads};
  ThreadPool calls_{call_threads};
  TimerQueue timers_{clock_};
  std::unique_ptr<Store> store_;
  std::optional<net::Tokens> tokens_;
  std::unique_ptr<net::Auth> auth_;
  std::unique_ptr<process::SupervisorClient> supervisor_;
  std::unique_ptr<Driver> command_;
  std::unique_ptr<fake::FakeDriver> demo_;
  std::unique_ptr<http::Client> http_;
  std::unique_ptr<model::Models> models_;
  ToolsForAgents agent_tools_;
  std::unique_ptr<builtin::ToolSet> tool_set_;
  std::unique_ptr<Driver> builtin_;
  std::unique_ptr<Driver> opencode_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<tools::Toolbox> tools_;
  std::unique_ptr<mcp::Protocol> protocol_;
  std::unique_ptr<mcp::HttpEndpoint> mcp_;
  std::unique_ptr<net::Routes> routes_;
  std::unique_ptr<net::Server> server_;
};

int failed(const Error& error, bool json) {
  std::string text = fmt::format("errand: {}", error.message);
  if (json) {
    text.clear();
    JsonOut out(text);
    out.object().key("error").object().field("code", error.reason.empty() ? name(error.code) : error.reason);
    out.field("message", error.message).field("exit_code", 1).end().end();
  }
  fmt::print(stderr, "{}\n", text);
  return 1;
}

}  // namespace

namespace cli {

int serve(const ServeArgs& args) {
  harden_process();
  Result<Settings> settings = read_settings(args, environment_map());
  if (!settings) return failed(settings.error(), args.json);
  if (settings->log_level == "debug") set_log_level(LogLevel::debug);
  if (settings->log_level == "warning") set_log_level(LogLevel::warning);
  if (settings->log_level == "error") set_log_level(LogLevel::error);
  if (!tools::is_family(settings->tools_family))
    return failed({Code::invalid_argument, "tools.family must be background, superagents, asyncagents or bgagent.", {}},
                  args.json);
  if (Status made = make_data_dir(args.data_dir); !made) return failed(made.error(), args.json);
  Application application(args.data_dir, std::move(*settings), args.json);
  if (Status opened = application.open(); !opened) return failed(opened.error(), args.json);
  return application.run();
}

std::string tools_json(std::string_view family) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const tools::ToolInfo& tool : tools::tool_infos(family)) {
    out.object().field("name", tool.name).field("description", tool.description);
    out.key("input_schema").raw(tool.input_schema);
    out.key("annotations").object().field("read_only", tool.annotations.read_only).end().end();
  }
  out.end();
  return text;
}

int supervisor(const SupervisorArgs& args) {
  harden_process();
  return process::run_supervisor({.data_dir = args.data_dir});
}

}  // namespace cli
}  // namespace errand

int main(int argc, char** argv) { return errand::cli::main(argc, argv); }
