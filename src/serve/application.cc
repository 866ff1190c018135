#include "serve/application.h"

#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"
#include "base/version.h"
#include "net/page.h"
#include "net/token.h"
#include "serve/environment.h"
#include "serve/found_programs.h"
#include "serve/part_settings.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace errand::serve {
namespace {

// It has used what it may use.
bool is_spent(const Task& task) {
  const Budget& budget = task.launch.budget;
  const Usage& used = task.progress.usage;
  return (budget.tokens > 0 && used.input_tokens + used.output_tokens >= budget.tokens) ||
         (budget.cost_usd > 0 && used.cost_usd >= budget.cost_usd);
}

}  // namespace

Application::Application(std::string data_dir, std::string config, Settings settings, bool json)
    : data_dir_(std::move(data_dir)),
      config_(std::move(config)),
      settings_(std::move(settings)),
      json_(json),
      server_file_(data_dir_) {}

// --- the start

Status Application::open() {
  Status opened;
  // The order is the promise: the lock, the addresses, and only then what could touch work.
  for (Status (Application::* const step)() :
       {&Application::open_store, &Application::make_auth, &Application::listen, &Application::connect_supervisor,
        &Application::make_engine, &Application::make_notifier}) {
    opened = (this->*step)();
    if (!opened) break;
  }
  if (!opened) {
    tidy_up();
    return opened;
  }
  make_tools();
  make_routes();
  return {};
}

Status Application::open_store() {
  Result<Address> address = parse_address(settings_.listen);
  if (!address) return std::unexpected(address.error());
  address_ = *address;
  if (!settings_.store.empty() && !is_postgres_url(settings_.store))
    return fail(Code::invalid_argument,
                "--store is a PostgreSQL URL (postgres://USER@HOST/DATABASE). Leave it out to keep tasks in the data "
                "folder.");
  Result<std::unique_ptr<Store>> store =
      settings_.store.empty() ? open_sqlite_store({.path = data_dir_ + "/errand.db"}, *ground_.loop)
                              : open_postgres_store({.url = settings_.store, .data_dir = data_dir_}, *ground_.loop);
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  log_info("server", store_->describe());
  return {};
}

Status Application::make_auth() {
  Result<std::string> token = net::load_or_make_token(data_dir_, ground_.random);
  if (!token) return std::unexpected(token.error());
  token_ = *token;
  tokens_.emplace(*store_, ground_.clock, ground_.random);
  if (Status loaded = tokens_->load(); !loaded) return loaded;
  devices_.emplace(*store_, ground_.clock, ground_.random);
  if (Status loaded = devices_->load(); !loaded) return loaded;
  Result<net::Peers> proxies = net::Peers::parse(settings_.proxies);
  if (!proxies) return std::unexpected(proxies.error());
  auth_ = std::make_unique<net::Auth>(net::AuthSettings{.token = token_,
                                                        .hosts = own_hosts(settings_),
                                                        .behind_proxy = settings_.behind_proxy,
                                                        .proxies = std::move(*proxies),
                                                        .ended_sessions = data_dir_ + "/ended-sessions"},
                                      ground_.clock, ground_.random, &*tokens_, &*devices_, &pairing_);
  return {};
}

// Takes the addresses. Nobody is answered before say_ready(): who connects meanwhile waits in the system's queue, since
// a refusal would look like a server that is not there, and there is nothing yet that an answer could be made from.
Status Application::listen() {
  server_ = net::make_server(*ground_.loop, {}, auth_->head_check(),
                             [this](net::ExchangePtr exchange) { routes_->handle(std::move(exchange)); });
  const bool tls = !settings_.tls_cert.empty();
  const auto exposure = settings_.behind_proxy ? net::Exposure::behind_proxy : net::Exposure::loopback_only;
  Result<int> port = tls ? server_->listen_tls(address_.host, address_.port, {settings_.tls_cert, settings_.tls_key})
                         : server_->listen(address_.host, address_.port, exposure);
  if (!port) return fail(port.error().code, fmt::format("listen = {}: {}", settings_.listen, port.error().message));
  address_.port = *port;
  auth_->add_port(*port);
  if (Status unix_socket = server_->listen_unix(data_dir_ + "/errand.sock"); !unix_socket) {
    // A folder with a long path has none; everybody else can use the token.
    if (unix_socket.error().code != Code::invalid_argument) return unix_socket;
    log_warning("server", unix_socket.error().message);
  } else {
    has_socket_ = true;
  }
  url_ = url_of(address_, tls);
  return server_file_.prepare(about_server(url_, config_));
}

Status Application::connect_supervisor() {
  // By this name also where the file was replaced or removed meanwhile: what runs now can be started again.
  auto supervisor = process::connect_supervisor(
      {.data_dir = data_dir_, .self = "/proc/self/exe", .orphan_ms = settings_.orphan_ms}, *ground_.loop);
  if (!supervisor) return std::unexpected(supervisor.error());
  supervisor_ = std::move(*supervisor);
  return {};
}

// Nobody has asked for this turn, so it must not make a task fail that is complete: not for its budget either.
void Application::ask_for_turn(const TaskId& task, const std::string& why, std::move_only_function<void(bool)> done) {
  engine_->tasks().get(task, [this, task, why, done = std::move(done)](Result<TaskView> found) mutable {
    if (!found || is_spent(found->task)) return done(false);
    engine_->tasks().resume(task, {.content = program::beginning_note(why)},
                            [done = std::move(done)](const Result<MessageTaken>& taken) mutable {
                              // conflict: a message was faster, and the turn that it makes is the agent's too.
                              done(taken || taken.error().code == Code::conflict);
                            });
  });
}

Status Application::make_engine() {
  const EngineSettings settings = engine_settings(settings_);
  const std::vector<std::string> environment = with_found_programs(Environment::get().list(), data_dir_);
  Result<std::unique_ptr<Drivers>> drivers = Drivers::make(
      {.ground = ground_,
       .supervisor = *supervisor_,
       .agent_tools = agent_tools_,
       .data_dir = data_dir_,
       .reach = [this](const Task& task) { return reach_for(task); },
       .environment = environment,
       .ask_for_turn = [this](const TaskId& task, const std::string& why,
                              std::move_only_function<void(bool)> done) { ask_for_turn(task, why, std::move(done)); }},
      settings_, settings);
  if (!drivers) return std::unexpected(drivers.error());
  drivers_ = std::move(*drivers);
  Result<std::vector<Agent>> agents = all_agents(drivers_->all(), settings_, drivers_->default_model(), environment);
  if (!agents) return std::unexpected(agents.error());
  engine_ = errand::make_engine({.store = *store_,
                                 .loop = *ground_.loop,
                                 .readers = ground_.readers,
                                 .clock = ground_.clock,
                                 .random = ground_.random,
                                 .drivers = drivers_->all(),
                                 .agents = std::move(*agents),
                                 .wake_at = [this](Time at) { engine_timer_->set(at, [this] { tick_engine(); }); },
                                 .faults = {},
                                 .pinned = settings_.given,
                                 .settings_changed =
                                     [this](const EngineSettings& now) {
                                       if (tools_) tools_->use_family(now.tools_family);
                                       drivers_->use(now);
                                     },
                                 .folders = &ground_.folders,
                                 .changes = &drivers_->changes(),
                                 .programs = &drivers_->programs()},
                                settings);
  survey_.emplace(Survey::Parts{.programs = drivers_->programs(),
                                .timers = ground_.timers,
                                .threads = ground_.folders,
                                .loop = *ground_.loop,
                                .environment = environment});
  model_lists_.emplace([this](const Agent& agent) { return drivers_->model_list(agent.driver); }, ground_.timers,
                       ground_.clock);
  return {};
}

Status Application::make_notifier() {
  http::Options options = http::options_from_environment(Environment::get().map());
  options.user_agent = fmt::format("errand/{}", version);
  notify_client_ = http::make_client(*ground_.loop, std::move(options));
  notifier_ = std::make_unique<notify::Notifier>(notifier_parts(settings_, url_,
                                                                {.store = *store_,
                                                                 .loop = *ground_.loop,
                                                                 .readers = ground_.readers,
                                                                 .timers = ground_.timers,
                                                                 .clock = ground_.clock,
                                                                 .random = ground_.random,
                                                                 .client = *notify_client_}));
  engine_->streams().listen(notifier_.get());
  return notifier_->load();
}

void Application::make_tools() {
  tools_ = std::make_unique<tools::Toolbox>(tools::ToolParts{.engine = *engine_,
                                                             .store = *store_,
                                                             .loop = *ground_.loop,
                                                             .readers = ground_.readers,
                                                             .clock = ground_.clock,
                                                             .family = settings_.engine.tools_family});
  agent_tools_.use(*tools_);
  protocol_ = std::make_unique<mcp::Protocol>(mcp::ProtocolParts{.tools = *tools_,
                                                                 .engine = *engine_,
                                                                 .store = *store_,
                                                                 .loop = *ground_.loop,
                                                                 .readers = ground_.readers,
                                                                 .clock = ground_.clock,
                                                                 .version = std::string(version),
                                                                 .secret = token_});
  mcp_ = std::make_unique<mcp::HttpEndpoint>(
      mcp::HttpParts{.protocol = *protocol_, .random = ground_.random, .heartbeats = ground_.heartbeats});
}

void Application::make_routes() {
  routes_ = std::make_unique<net::Routes>(net::RouteParts{
      .engine = *engine_,
      .store = *store_,
      .loop = *ground_.loop,
      .readers = ground_.readers,
      .clock = ground_.clock,
      .heartbeats = ground_.heartbeats,
      .version = std::string(version),
      .authenticated = [this](const net::Request& request) { return auth_->is_known(request); },
      .stats = [this] { return server_->stats(); },
      .means = [this] { return means_of(supervisor_->abilities()); },
      .data_dir = data_dir_,
      .programs = [this](const std::vector<Agent>& agents,
                         Survey::Done done) { survey_->look(agents, std::move(done)); },
      .models = [this](const Agent& agent, ModelList::Listed done) { model_lists_->list(agent, std::move(done)); },
      .folders = &ground_.folders,
      .login = [this](const net::ExchangePtr& exchange) { return auth_->handle(exchange); },
      .page = net::serve_page,
      .tools = tools_.get(),
      .tokens = &*tokens_,
      .devices = &*devices_,
      .pairing = &pairing_,
      .notifier = notifier_.get(),
      .mcp = [this](net::ExchangePtr exchange) { mcp_->handle(std::move(exchange)); },
      .end_stale = [this] { server_->end_stale(); },
      .page_url = page_url(settings_, url_),
  });
}

// What runs in a task reaches this server as that task (net/routes/guard.h). A sandbox hides the data folder, so it is
// told the address.
StringMap Application::reach_for(const Task& task) const {
  StringMap reach = {{"ERRAND_TOKEN", auth_->task_token(task.id, task.run)}, {"ERRAND_DATA_DIR", data_dir_}};
  if (task.launch.sandbox != Sandbox::off && !url_.empty()) reach["ERRAND_URL"] = url_;
  return reach;
}

// --- at work

int Application::run() {
  ground_.loop->post([this] {
    engine_->recover([this](Result<void> recovered) {
      Status ready = recovered;
      if (ready) ready = say_ready();
      if (ready && !draining_) notifier_->start();
      if (ready) return;
      log_error("server", ready.error().message);
      exit_code_ = 1;
      ground_.loop->stop();
    });
  });
  ground_.loop->run();
  tidy_up();
  if (!ground_.stop()) {
    // All that was acknowledged is on disk.
    std::fflush(nullptr);
    ::_exit(exit_code_);
  }
  return exit_code_;
}

Status Application::say_ready() {
  if (draining_) return {};  // Told to stop before it was.
  if (Status written = server_file_.publish(); !written) return written;
  server_->accept();
  // The one line that programs wait for.
  fmt::print("{}", json_ ? about_server(url_, config_) : fmt::format("errand {} is ready at {}\n", version, url_));
  std::fflush(stdout);
  return {};
}

void Application::tick_engine() {
  const Time next = engine_->tick();
  if (next) engine_timer_->set(next, [this] { tick_engine(); });
}

// --- the stop

void Application::stop() {
  ground_.loop->post([this] { drain(); });
}

// Takes no more work, commits, leaves children to the supervisor, and goes.
void Application::drain() {
  draining_ = true;
  notifier_->stop();
  engine_->drain(
      [this](Result<void>) { server_->stop(net::farewell(ground_.clock.wall()), [this] { ground_.loop->stop(); }); });
}

void Application::tidy_up() {
  server_file_.remove();
  if (std::exchange(has_socket_, false)) unlink((data_dir_ + "/errand.sock").c_str());
}

}  // namespace errand::serve
