// The way to the first prompt: the agent says what it can, its session is opened, and what was chosen is told.
#include <unistd.h>

#include <fmt/format.h>

#include "driver/acp/acp_turn.h"

namespace errand::acp {

namespace {

constexpr Millis handshake_ms = 120'000;  // For an agent to start and to open a session: some fetch things first.
constexpr Millis settle_ms = 400;         // Without a word, an agent has repeated all of a loaded session.

}  // namespace

// A process that says nothing is not waited for for ever. With a prompt in flight that is the task's own idle limit.
void AcpTurn::be_patient() {
  if (state_.phase >= Phase::prompting) return patience_.cancel();
  patience_.set(handshake_ms, [this] {
    std::vector<Report> out;
    finish({.kind = Outcome::Kind::failed,
            .result = {},
            .error = TaskError{"spawn_failed",
                               fmt::format("{} did not answer within {} seconds of its start; run `{}` in a terminal "
                                           "and see what it says.",
                                           agent_name(), handshake_ms / 1'000, command_text()),
                               {}}},
           out);
    tell(std::move(out));
    leave();
  });
}

void AcpTurn::initialized(const std::string& result, std::vector<Report>& out) {
  state_.agent = parse_agent(result);
  if (state_.agent.protocol != 1)
    return finish({.kind = Outcome::Kind::failed,
                   .result = {},
                   .error = TaskError{"agent_error",
                                      fmt::format("{} speaks version {} of the Agent Client Protocol; errand speaks 1.",
                                                  agent_name(), state_.agent.protocol),
                                      {}}},
                  out);
  state_.session = request_.task->driver_session;
  if (state_.session.empty()) return open_session("session/new");
  if (state_.agent.resume) return open_session("session/resume");
  if (state_.agent.load) return open_session("session/load");
  out.emplace_back(report::Warning{
      "session_anew",
      fmt::format("{} cannot take up an earlier session: it gets the conversation as a text.", agent_name())});
  open_session("session/new");
}

void AcpTurn::open_session(std::string method) {
  state_.phase = Phase::opening;
  state_.method = std::move(method);
  if (state_.method == "session/new") {
    state_.session.clear();
    state_.is_new = true;
  }
  state_.request = ++state_.last_request;
  be_patient();
  put(session_line(), {}, Frame{.opens = true});
}

std::string AcpTurn::session_line() const {
  const Task& task = *request_.task;
  OpenSession session{.session = state_.session,
                      .work_dir = task.launch.work_dir.empty() ? "/" : task.launch.work_dir,
                      .add_dirs = state_.agent.directories ? task.launch.add_dirs : std::vector<std::string>(),
                      .servers = {},
                      .as_root = ::geteuid() == 0};
  for (const program::McpServer& server : beginning_.servers)
    if (server.url.empty() || state_.agent.http) session.servers.push_back(server);
  return open_line(state_.request, state_.method, session);
}

void AcpTurn::opened(const std::string& result, std::vector<Report>& out) {
  const SessionInfo info = parse_session(result);
  child_->is_ready(state_.agent.version);
  if (beginning_.offered && info.model.offered()) beginning_.offered(info.model.values);
  if (state_.method == "session/new") {
    if (info.id.empty())
      return finish({.kind = Outcome::Kind::failed,
                     .result = {},
                     .error = TaskError{"agent_error", agent_name() + " opened a session without an id.", {}}},
                    out);
    state_.session = info.id;
    out.emplace_back(report::AgentSession{info.id});
  }
  const auto mode = request_.agent->options.find("mode");
  const std::string& model = request_.task->launch.model;
  wish(info.model, model.empty() ? request_.agent->model : model, "model", out);
  wish(info.mode, mode == request_.agent->options.end() ? "" : mode->second, "mode", out);
  if (state_.method == "session/load") {
    state_.phase = Phase::settling;
    return;  // lines() waits until it is quiet.
  }
  choose_or_prompt();
}

void AcpTurn::not_opened(const RpcError& error, std::vector<Report>& out) {
  if (error.code == auth_required || state_.method == "session/new")
    return finish(outcome_of(error, state_.agent, command_text()), out);
  out.emplace_back(report::Warning{
      "session_anew", fmt::format("{} no longer has the session of this task ({}): it gets the conversation as a text.",
                                  agent_name(), error.message)});
  open_session("session/new");
}

void AcpTurn::settle() {
  pause_.set(settle_ms, [this] {
    choose_or_prompt();
    tell({});
  });
}

void AcpTurn::wish(const Choice& choice, const std::string& value, std::string_view what, std::vector<Report>& out) {
  if (value.empty() || value == choice.current) return;
  if (choice.offered()) {
    state_.wishes.push_back({{.method = choice.method, .config = choice.config, .current = {}, .values = {}}, value});
    return;
  }
  out.emplace_back(report::Warning{
      "choice_refused", fmt::format("{} offers no choice of its {}: \"{}\" is not used.", agent_name(), what, value)});
}

void AcpTurn::choose_or_prompt() {
  if (state_.wishes.empty()) return prompt();
  state_.phase = Phase::choosing;
  const Wish wish = std::move(state_.wishes.front());
  state_.wishes.pop_front();
  state_.request = ++state_.last_request;
  put(choose_line(state_.request, state_.session, wish.choice, wish.value));
}

}  // namespace errand::acp
