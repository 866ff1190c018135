// errand stop, restart, status: the server of the data folder. Stopping it ends no work: the supervisor keeps what
// runs, and the next server takes it up.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/syscall.h>

#include "base/home.h"
#include "base/json_out.h"
#include "cli/find_server.h"
#include "cli/install.h"
#include "cli/programs_text.h"
#include "cli/resolve.h"
#include "cli/service.h"
#include "cli/start_server.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

// A server has 5 s to leave, and then ends by itself.
constexpr int stop_patience_ms = 15'000;

Status only_here(const Context& context) {
  if (context.globals.url.empty()) return {};
  return fail(
      Code::invalid_argument,
      "stop and restart are for the server of this machine's data folder; --url (ERRAND_URL) names another one.",
      "usage");
}

// Through a pidfd, so that a number that was given to another process meanwhile gets no signal.
Status end_server(const Context& context, const Target& server) {
  if (server.pid <= 0)
    return fail(Code::unavailable, "The server does not say which process it is. End it where it was started.");
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(server.pid), 0));
  if (process < 0 && errno == ESRCH) return {};
  if (process < 0)
    return fail(Code::unavailable, fmt::format("The server cannot be stopped: {}.", std::strerror(errno)));
  // Still the same one, now that it cannot be replaced.
  const Result<Target> again = find_server(where_of(context.globals), Start::never);
  Status ended;
  if (again && again->pid == server.pid) {
    if (::syscall(SYS_pidfd_send_signal, process, SIGTERM, nullptr, 0) != 0 && errno != ESRCH)
      ended = fail(Code::forbidden, fmt::format("The server cannot be stopped: {}.", std::strerror(errno)));
    pollfd gone{.fd = process, .events = POLLIN, .revents = 0};
    if (ended && ::poll(&gone, 1, stop_patience_ms) <= 0)
      ended = fail(Code::unavailable,
                   fmt::format("The server (process {}) has not ended after 15 s. Its log: {}/server.log", server.pid,
                               context.globals.data_dir));
  }
  ::close(process);
  return ended;
}

// The server of the data folder anew, as it was started: by systemd in its unit, else with the same words.
Result<Target> start_anew(const Context& context) {
  const Result<Target> running = find_server(where_of(context.globals), Start::never);
  if (!running && running.error().code != Code::unavailable) return running;
  const std::optional<Service> service =
      running ? service_of(running->pid) : installed_service(context.globals.data_dir);
  if (service) {
    if (const Status told = tell(*service, running ? "restart" : "start"); !told) return std::unexpected(told.error());
    return wait_for(where_of(context.globals), *service, running ? running->pid : 0);
  }
  const ServeWords words = running ? serve_words(running->pid) : ServeWords();
  if (running)
    if (const Status ended = end_server(context, *running); !ended) return std::unexpected(ended.error());
  return start_again(where_of(context.globals), words);
}

struct Counts {
  int64_t at_work = 0, needs_input = 0;
};
// An error where we may not ask, or the server does not answer.
Result<Counts> counts_of(Client& client) {
  Counts counts;
  const Result<std::string> body = client.get("/api/tasks?limit=1&counts=true");
  const Result<TaskPage> page = body ? parse_tasks(*body) : std::unexpected(body.error());
  if (!page) return std::unexpected(page.error());
  for (const char* state : {"pending", "running", "resumed"})
    if (const auto found = page->counts.find(state); found != page->counts.end()) counts.at_work += found->second;
  counts.needs_input = number(member(*body, "needs_input"));
  return counts;
}

std::string tasks_words(int64_t count) { return fmt::format("{} {}", count, count == 1 ? "task" : "tasks"); }

}  // namespace

int stop(Context& context, const StopArgs&) {
  const Screen& screen = context.screen;
  if (const Status here = only_here(context); !here) return screen.fail(here.error());
  context.client.set_start(Start::never);
  const Result<Target> server = find_server(where_of(context.globals), Start::never);
  const bool none = !server && server.error().code == Code::unavailable;
  if (!server && !none) return screen.fail(server.error());
  // Who cannot ask for them can stop the server all the same: it is a process of this user.
  const Counts counts = none ? Counts{} : counts_of(context.client).value_or(Counts{});
  if (!none) {
    const std::optional<Service> service = service_of(server->pid);
    if (const Status ended = service ? tell(*service, "stop") : end_server(context, *server); !ended)
      return screen.fail(ended.error());
  }
  if (screen.json()) {
    std::string text;
    JsonOut(text).object().field("stopped", !none).field("at_work", counts.at_work).end();
    screen.out_line(text);
  } else if (none) {
    screen.say(fmt::format("no server runs for {}.", to_home(context.globals.data_dir)));
  } else {
    screen.say(counts.at_work == 0
                   ? std::string("the server is stopped.")
                   : fmt::format("the server is stopped. {} at work {} on without it, and the next server takes {} up: "
                                 "errand restart",
                                 tasks_words(counts.at_work), counts.at_work == 1 ? "goes" : "go",
                                 counts.at_work == 1 ? "it" : "them"));
  }
  return code(Exit::ok);
}

int restart(Context& context, const RestartArgs&) {
  const Screen& screen = context.screen;
  if (const Status here = only_here(context); !here) return screen.fail(here.error());
  const Result<Target> server = start_anew(context);
  if (!server) return screen.fail(server.error());
  if (screen.json()) {
    std::string text;
    JsonOut(text).object().field("pid", server->pid).field("url", server->url).field("version", server->version).end();
    screen.out_line(text);
  } else {
    screen.say(fmt::format("the server {} runs at {}.", server->version, server->url));
  }
  return code(Exit::ok);
}

int status(Context& context, const StatusArgs&) {
  const Screen& screen = context.screen;
  context.client.set_start(Start::never);
  const Result<Target> server = find_server(where_of(context.globals), Start::never);
  if (!server && screen.json() && server.error().code == Code::unavailable) {
    std::string text;
    JsonOut(text).object().field("running", false).field("data_dir", context.globals.data_dir).end();
    screen.out_line(text);
    return code(Exit::unreachable);
  }
  if (!server) return screen.fail(server.error());
  const Result<std::string> health = context.client.get("/api/health");
  if (!health) return screen.fail(health.error());
  const Result<Counts> counts = counts_of(context.client);
  const std::string version = server->version.empty() ? member(*health, "version") : server->version;
  const std::string state = member(*health, "status");
  const std::string programs = member(*health, "programs");
  if (screen.json()) {
    std::string text;
    JsonOut(text)
        .object()
        .field("running", true)
        .field("status", state)
        .field("pid", server->pid)
        .field("url", server->url)
        .field("version", version)
        .field("data_dir", context.globals.data_dir)
        .field("at_work", counts ? std::optional(counts->at_work) : std::nullopt)
        .field("needs_input", counts ? std::optional(counts->needs_input) : std::nullopt)
        .key("programs")
        .raw(programs.empty() ? "null" : programs)
        .end();
    screen.out_line(text);
    return counts ? code(Exit::ok) : code(exit_of(counts.error().code));
  }
  std::string text = fmt::format("server   {} at {}{}\n", version, server->url,
                                 server->pid > 0 ? fmt::format(", process {}", server->pid) : "");
  if (!state.empty() && state != "ok") text += fmt::format("state    {}\n", state);
  text += fmt::format("data     {}\n", to_home(context.globals.data_dir));
  if (!counts) {
    screen.out(text);
    return screen.fail(counts.error());
  }
  text += fmt::format("tasks    {} at work", counts->at_work);
  text += counts->needs_input == 0
              ? "\n"
              : fmt::format(", {} for you: errand inbox\n",
                            counts->needs_input == 1 ? "1 waits" : fmt::format("{} wait", counts->needs_input));
  if (const std::string words = programs_text(*health); !words.empty()) text += "agents   " + words + "\n";
  screen.out(text);
  return code(Exit::ok);
}

}  // namespace errand::cli
