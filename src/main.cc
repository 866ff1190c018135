// Builds the real objects and connects them. With main_*.h the only file that names concrete classes.
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <malloc.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "base/log.h"
#include "base/loose_pool.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "base/timers.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/opencode.h"
#include "cli/serve.h"
#include "cli/settings.h"
#include "driver/acp/acp_driver.h"
#include "driver/builtin/builtin_driver.h"
#include "driver/builtin/tools/tool_set.h"
#include "driver/claude/claude_driver.h"
#include "driver/command/command_driver.h"
#include "driver/fake/demo.h"
#include "driver/find_program.h"
#include "driver/opencode/opencode_driver.h"
#include "engine/engine.h"
#include "http/client.h"
#include "main_acp.h"
#include "main_agents.h"
#include "main_data_dir.h"
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
constexpr Millis drain_ms = 5'000;     // For what is under way at a stop.
constexpr Millis leave_ms = 1'000;     // What the background does when the server stops may take this long.
constexpr int background_threads = 2;  // For copying and removing files, which nobody's request waits behind.
constexpr int file_threads = 2;        // For what is soon done in the data folder: logs, small files.
constexpr int folder_threads = 32;     // For folders that launches name; only those that hang make it more than a few.
constexpr int call_threads = 2;        // For what agents' calls need: short work, which is not to wait behind a search.

// What the server was started with, as it was found. The rest of the process sees it too (getenv), but at another
// place: the block that the kernel shows as /proc/PID/environ, to every process of this user and so to every command
// that is not in a sandbox, has no values any more. The server's memory can still be read by who may trace it: only a
// sandbox keeps a command from that. (PR_SET_DUMPABLE would too, for all but root; it also gives /proc/PID to root, by
// whose owner a client tells its own server from another's process, and takes debuggers and profilers from their user.)
class Environment {
 public:
  static const Environment& get() {
    static const auto* const environment = new Environment;  // Never destroyed: it is the process's own.
    return *environment;
  }
  const std::vector<std::string>& list() const { return list_; }
  std::map<std::string, std::string> map() const {
    std::map<std::string, std::string> out;
    for (const std::string& entry : list_)
      if (const size_t equals = entry.find('='); equals != std::string::npos)
        out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    return out;
  }

 private:
  Environment() {
    std::vector<char*> given;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      list_.emplace_back(*entry);
      given.push_back(*entry);
    }
    for (std::string& entry : list_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
    environ = pointers_.data();
    // What finds a process of a run that has lost its keeper stays (process/run.h): it is the path of a folder.
    for (char* entry : given)
      if (char* value = std::strchr(entry, '=');
          value != nullptr && !std::string_view(entry).starts_with("ERRAND_RUN="))
        explicit_bzero(value + 1, std::strlen(value + 1));
  }

  std::vector<std::string> list_;
  std::vector<char*> pointers_;
};

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

// What server.json holds, and `serve --json` prints.
std::string about_server(const std::string& url) {
  std::string text;
  JsonOut(text).object().field("pid", static_cast<int64_t>(getpid())).field("url", url).field("version", version).end();
  return text + "\n";
}

// server.json, which clients read at any time: written beside it first, so that all that can fail has been tried before
// any work is touched, and put into its place when the server is ready.
class ServerFile {
 public:
  explicit ServerFile(const std::string& data_dir) : path_(data_dir + "/server.json"), prepared_(path_ + ".tmp") {}

  Status prepare(const std::string& text) {
    struct stat there{};
    if (lstat(path_.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
      return fail(Code::unavailable, fmt::format("{} is a folder; remove it, the server writes a file there.", path_));
    unlink(prepared_.c_str());
    std::FILE* const file = std::fopen(prepared_.c_str(), "wxe");
    const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) return not_written();
    state_ = State::prepared;
    return {};
  }
  Status publish() {
    if (std::rename(prepared_.c_str(), path_.c_str()) != 0) return not_written();
    state_ = State::published;
    return {};
  }
  void remove() {
    if (state_ == State::prepared) unlink(prepared_.c_str());
    if (state_ == State::published) unlink(path_.c_str());
    state_ = State::none;
  }

 private:
  enum class State : uint8_t { none, prepared, published };
  std::unexpected<Error> not_written() const {
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", path_, std::strerror(errno)));
  }

  const std::string path_, prepared_;
  State state_ = State::none;
};

// SIGTERM and SIGINT. The first one is passed on; a second one, or one that had no effect in time, ends the process as
// a kill would, but for the files that say where the server is: what is durable stays, what runs goes on, and nothing
// waits for a disk that does not answer. For the same reason they are heard by a thread of their own: the loop may be
// what waits.
class StopSignals {
 public:
  // Before any other thread is begun: they all leave these signals to this one.
  explicit StopSignals(std::string data_dir) : data_dir_(std::move(data_dir)) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  // Its thread lives as long as the process.
  void pass_to(std::function<void()> stop) {
    stop_ = std::move(stop);
    std::thread([this] { listen(); }).detach();
  }
  // Who was to be told is about to go.
  void forget() {
    const std::lock_guard lock(mutex_);
    stop_ = nullptr;
  }

  std::atomic<bool> owns_folder = false;  // The files in it are ours: its database is locked.

 private:
  [[noreturn]] void listen() {
    int number = 0;
    while (sigwait(&signals_, &number) != 0) {
    }
    log_info("server", "stopping; what runs goes on under the supervisor");
    {
      const std::lock_guard lock(mutex_);
      if (stop_) stop_();
    }
    SystemClock clock;
    const Time until = clock.steady() + drain_ms;
    bool again = false;
    for (Millis left = drain_ms; left > 0 && !again; left = until - clock.steady()) {
      const timespec patience{.tv_sec = left / 1'000, .tv_nsec = left % 1'000 * 1'000'000};
      again = sigtimedwait(&signals_, nullptr, &patience) > 0;
    }
    log_warning("server", fmt::format("{}: it goes now, and the next start takes up what runs",
                                      again ? "told twice to stop" : "what was under way did not end in time"));
    if (owns_folder)
      for (const char* name : {"/server.json", "/server.json.tmp", "/errand.sock"}) unlink((data_dir_ + name).c_str());
    std::_Exit(0);
  }

  const std::string data_dir_;
  sigset_t signals_{};
  std::mutex mutex_;
  std::function<void()> stop_;  // Guarded by mutex_.
};

// The server, from its parts. Members are destroyed in reverse order: what refers to others comes after them.
class Application {
 public:
  Application(std::string data_dir, cli::Settings settings, bool json)
      : data_dir_(std::move(data_dir)), settings_(std::move(settings)), json_(json), server_file_(data_dir_) {}

  // All that can fail, before anything is touched that runs (R14.4): where this returns an error no run was taken up,
  // and before the addresses are ours not even the supervisor was asked for.
  Status open() {
    Status opened = make_parts();
    if (!opened) tidy_up();
    return opened;
  }

  // Until it is told to stop. Returns the exit code.
  int run() {
    loop_->post([this] {
      engine_->recover([this](Result<void> recovered) {
        Status ready = recovered;
        if (ready) ready = say_ready();
        if (ready) return;
        log_error("server", ready.error().message);
        exit_code_ = 1;
        loop_->stop();
      });
    });
    loop_->run();
    tidy_up();
    readers_.stop();
    files_.stop();
    // A thread that hangs in a mount that is gone cannot be joined, and what it uses cannot be destroyed: the process
    // goes without it. All that was acknowledged is on disk.
    bool left = folders_.stop(leave_ms);
    left = background_.stop(leave_ms) && left;
    left = calls_.stop(leave_ms) && left;
    if (!left) {
      std::fflush(nullptr);
      ::_exit(exit_code_);
    }
    return exit_code_;
  }

  // From any thread, also before run().
  void stop() {
    loop_->post([this] { drain(); });
  }

 private:
  Status make_parts() {
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
    make_server();
    if (Status bound = listen(); !bound) return bound;
    // By this name also where the file was replaced or removed meanwhile: what runs now can be started again.
    auto supervisor = process::connect_supervisor(
        {.data_dir = data_dir_, .self = "/proc/self/exe", .orphan_ms = settings_.orphan_s * 1'000}, *loop_);
    if (!supervisor) return std::unexpected(supervisor.error());
    supervisor_ = std::move(*supervisor);

    engine_settings_ = engine_settings(settings_);
    const command::CommandOptions command_options{
        .data_dir = data_dir_,
        .environment = Environment::get().list(),
        .env_allow = settings_.env_allow,
        .work_dirs = settings_.work_dirs,
        .umask = static_cast<int>(std::strtol(settings_.child_umask.c_str(), nullptr, 8)),
        .default_timeout_ms = engine_settings_.command_timeout_ms,
        .output_limit = engine_settings_.output_limit,
        .artifacts = {.bytes = settings_.artifacts_max_bytes, .files = settings_.artifacts_max_files},
        .reach = [this](const Task& task) { return reach_for(task); }};
    command_ = command::make_command_driver(command_options, {.supervisor = *supervisor_,
                                                              .timers = timers_,
                                                              .background = background_,
                                                              .engine = loop_.get(),
                                                              .files = &files_,
                                                              .folders = &folders_});
    demo_ = fake::make_demo_driver(timers_);
    Result<DefaultModel> model = make_builtin(command_options);
    if (!model) return std::unexpected(model.error());
    std::map<std::string, Driver*> drivers = {
        {"command", command_.get()}, {"builtin", builtin_.get()}, {"demo", demo_.get()}};
    if (std::string program = opencode::find_opencode(command_options.environment); !program.empty()) {
      opencode_ = opencode::make_opencode_driver({.data_dir = data_dir_,
                                                  .program = std::move(program),
                                                  .environment = command_options.environment,
                                                  .fork_limits = [this] { return engine_settings_.fork; }},
                                                 {.supervisor = *supervisor_,
                                                  .http = *http_,
                                                  .timers = timers_,
                                                  .clock = clock_,
                                                  .random = random_,
                                                  .files = &files_,
                                                  .background = &calls_,
                                                  .engine = loop_.get()});
      drivers.emplace("opencode", opencode_.get());
    }
    if (std::string program = find_program(command_options.environment, "claude"); !program.empty()) {
      claude_ = claude::make_claude_driver(
          {.command = command_options, .programs = {std::move(program), own_program()}}, {.supervisor = *supervisor_,
                                                                                          .timers = timers_,
                                                                                          .clock = clock_,
                                                                                          .random = random_,
                                                                                          .files = &files_,
                                                                                          .engine = loop_.get(),
                                                                                          .artifacts = command_.get()});
      drivers.emplace("claude", claude_.get());
    }
    acp_ = acp::make_acp_driver({.command = command_options,
                                 .version = std::string(version),
                                 .mcp_servers =
                                     [this](const Task& task) {
                                       return acp_servers(settings_, Environment::get().map(), reach_for(task), task);
                                     },
                                 .fork_limits = [this] { return engine_settings_.fork; }},
                                {.supervisor = *supervisor_,
                                 .timers = timers_,
                                 .files = &files_,
                                 .background = &calls_,
                                 .engine = loop_.get()});
    drivers.emplace("acp", acp_.get());
    Result<std::vector<Agent>> agents = all_agents(drivers, settings_, *model, command_options.environment);
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
                               },
                           .folders = &folders_},
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
    make_routes();
    return {};
  }

  Result<DefaultModel> make_builtin(const command::CommandOptions& command_options) {
    const std::map<std::string, std::string> environment = Environment::get().map();
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

  void make_routes() {
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
  }

  void make_server() {
    server_ = net::make_server(*loop_, {}, auth_->head_check(),
                               [this](net::ExchangePtr exchange) { routes_->handle(std::move(exchange)); });
  }

  // Takes the addresses. Nobody is answered before say_ready(): who connects meanwhile waits in the system's queue,
  // since a refusal would look like a server that is not there, and there is nothing yet that an answer could be made
  // from.
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
    } else {
      has_socket_ = true;
    }
    const bool v6 = address_.host.find(':') != std::string::npos;
    url_ = fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", v6 ? "[" : "", address_.host, v6 ? "]" : "", *port);
    return server_file_.prepare(about_server(url_));
  }

  Status say_ready() {
    if (draining_) return {};  // Told to stop before it was.
    if (Status written = server_file_.publish(); !written) return written;
    server_->accept();
    // The one line that programs wait for.
    fmt::print("{}", json_ ? about_server(url_) : fmt::format("errand {} is ready at {}\n", version, url_));
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

  void tidy_up() {
    server_file_.remove();
    if (std::exchange(has_socket_, false)) unlink((data_dir_ + "/errand.sock").c_str());
  }

  // Takes no more work, commits, leaves children to the supervisor, and goes.
  void drain() {
    draining_ = true;
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
  ServerFile server_file_;
  Address address_;
  std::string url_;  // Empty until its address is taken.
  EngineSettings engine_settings_;
  int exit_code_ = 0;
  bool has_socket_ = false;
  bool draining_ = false;

  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<net::Loop> loop_ = net::Loop::make();
  std::unique_ptr<net::Timer> engine_timer_ = loop_->timer(), driver_timer_ = loop_->timer();
  net::Heartbeats heartbeats_{*loop_};
  ThreadPool readers_{reader_threads};
  ThreadPool files_{file_threads};
  LoosePool folders_{folder_threads};
  LoosePool background_{background_threads};
  LoosePool calls_{call_threads};
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
  std::unique_ptr<Driver> claude_;
  std::unique_ptr<Driver> acp_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<tools::Toolbox> tools_;
  std::unique_ptr<mcp::Protocol> protocol_;
  std::unique_ptr<mcp::HttpEndpoint> mcp_;
  std::unique_ptr<net::Routes> routes_;
  std::unique_ptr<net::Server> server_;
};

// A large block (a request's body, a page of a log) goes back to the system when it is freed. By itself glibc raises
// this size with the first one that is freed, and from then on the heap keeps twice of what large bodies took.
void bound_heap() { ::mallopt(M_MMAP_THRESHOLD, 128 << 10); }

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
  bound_heap();
  const Environment& environment = Environment::get();
  // Before anything of it is read: settings that somebody else put there are not ours.
  if (Status made = make_data_dir(args.data_dir); !made) return failed(made.error(), args.json);
  Result<Settings> settings = read_settings(args, environment.map());
  if (!settings) return failed(settings.error(), args.json);
  if (settings->log_level == "debug") set_log_level(LogLevel::debug);
  if (settings->log_level == "warning") set_log_level(LogLevel::warning);
  if (settings->log_level == "error") set_log_level(LogLevel::error);
  if (!tools::is_family(settings->tools_family))
    return failed({Code::invalid_argument, "tools.family must be background, superagents, asyncagents or bgagent.", {}},
                  args.json);
  auto* const signals = new StopSignals(args.data_dir);  // Never destroyed: its thread outlives what is built here.
  Application application(args.data_dir, std::move(*settings), args.json);
  signals->pass_to([&application] { application.stop(); });
  int code = 0;
  if (Status opened = application.open(); !opened) {
    code = failed(opened.error(), args.json);
  } else {
    signals->owns_folder = true;
    code = application.run();
  }
  signals->forget();
  return code;
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
