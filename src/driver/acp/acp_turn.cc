#include "driver/acp/acp_turn.h"

#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/run/spawn.h"
#include "fork/transcript.h"

namespace errand::acp {

namespace {

constexpr Millis handshake_ms = 120'000;  // For an agent to start and to open a session: some fetch things first.
constexpr Millis settle_ms = 400;         // Without a word, an agent has repeated all of a loaded session.
constexpr Millis named_ms = 400;          // As long may the arguments of a call take that was named.
constexpr Millis cancel_ms = 5'000;       // For an agent to say that it has stopped.
constexpr Millis leave_ms = 700;          // For it to leave by itself when its input ends.
constexpr Millis grace_ms = 3'000;

Outcome died(const lines::End& end, const std::string& who) {
  using How = process::RunEnd::How;
  Outcome outcome{.kind = Outcome::Kind::failed, .result = {}, .error = TaskError{"agent_error", {}, {}}};
  outcome.error->message = fmt::format("{} ended in the middle of the turn. {}", who, lines::describe(end));
  if (end.how == lines::End::How::not_started) {
    outcome.error->code = "spawn_failed";
    outcome.error->message = fmt::format("{} did not start. {}", who, lines::describe(end));
  } else if (end.how == lines::End::How::broken) {
    outcome.error->message = fmt::format("{} cannot be understood. {}", who, lines::describe(end));
  } else if (end.run.how == How::lost) {
    outcome.kind = Outcome::Kind::lost;
    outcome.error->code = "interrupted";
  } else if (end.run.how == How::spawn_failed) {
    outcome.error->code = "spawn_failed";
  } else if (end.run.how == How::limit) {
    outcome.error->code = end.run.limit;
  } else if (end.run.signal > 0) {
    outcome.error->code = "signal";
    outcome.signal = end.run.signal;
  } else {
    outcome.error->code = "exit";
    outcome.exit_code = end.run.exit_code;
  }
  return outcome;
}

std::string last_text(const std::vector<Message>& history) {
  const auto last = std::find_if(history.rbegin(), history.rend(),
                                 [](const Message& message) { return message.role == Role::assistant; });
  return last == history.rend() ? std::string() : text_of(*last);
}

}  // namespace

AcpTurn::AcpTurn(const AcpOptions& options, const AcpParts& parts, program::Holder& holder, TurnRequest request,
                 State state, Beginning beginning, Sink& sink)
    : options_(options),
      parts_(parts),
      request_(std::move(request)),
      holder_(holder),
      beginning_(std::move(beginning)),
      sink_(sink),
      state_(std::move(state)),
      files_(parts.background, parts.engine),
      patience_(parts.timers),
      pause_(parts.timers),
      stopping_timer_(parts.timers),
      kept_(beginning_.kept) {
  // What goes with a prompt that was put is on its way, or has arrived.
  for (const Frame& frame : state_.frames) known_.insert(frame.messages.begin(), frame.messages.end());
  for (const Message& message : request_.messages)
    if (known_.insert(message.id).second) waiting_.push_back(message);
  if (request_.reattach) {
    state_.translator.set_said(last_text(request_.history));
    // Decided, and perhaps not given.
    for (const Ask& ask : request_.task->asks)
      if (!ask.decision.empty()) decided_[ask.request_id] = {ask.decision, ask.reply};
  } else {
    state_.translator = Translator(request_.task->progress.usage.cost_usd);
  }
  child_ = holder_.child(state_.run.empty() ? beginning_.spawn.run : state_.run, *this);
  // One that another turn has started is there, or is gone.
  if (state_.run.empty())
    prepare();
  else
    child_->attach(state_.next);
}

// The task's folder for artifacts, which its environment names; then the process.
void AcpTurn::prepare() {
  preparing_ = true;
  files_.run(
      [data_dir = options_.command.data_dir, task = request_.task->id] {
        run::Options where;
        where.data_dir = data_dir;
        return run::make_artifact_folder(where, task);
      },
      [this](const Result<std::string>& folder) {
        if (over_ || !std::exchange(preparing_, false)) return;
        if (!folder)
          return end({.kind = Outcome::Kind::failed, .error = TaskError{"spawn_failed", folder.error().message, {}}});
        if (request_.reattach) return child_->attach(state_.next, beginning_.spawn);
        child_->spawn(beginning_.spawn);
      });
}

std::string AcpTurn::agent_name() const { return state_.agent.name.empty() ? request_.agent->name : state_.agent.name; }

std::string AcpTurn::command_text() const {
  const auto login = request_.agent->options.find("login");
  if (login != request_.agent->options.end()) return login->second;
  const std::string& program = beginning_.spawn.argv.front();
  return program.substr(program.rfind('/') + 1);
}

// ---- What is sent

void AcpTurn::put(std::string line, std::string kept, Frame frame) {
  const Result<int64_t> number = child_->put(std::move(line));
  if (!number) {
    // It does not read, or is on its way out: then ended() follows, and says how.
    if (number.error().code == Code::exhausted) child_->stop(grace_ms);
    return;
  }
  frame.number = *number;
  frame.line = std::move(kept);
  state_.frames.push_back(std::move(frame));
}

void AcpTurn::tell(std::vector<Report> reports) {
  if (over_) return;
  if (reports.empty()) reports.emplace_back(report::Alive{});
  sink_.report(std::move(reports), encode(state_));
  const int64_t last = state_.frames.empty() ? 0 : state_.frames.back().number;
  sink_.when_stored([this, last, next = state_.next] {
    if (over_) return;
    child_->release(next);
    for (size_t i = 0; i < state_.frames.size(); ++i)
      if (state_.frames[i].number <= last) child_->let_go(state_.frames[i].number);
  });
  if (sink_.has_room()) return;
  child_->hold();
  sink_.when_room([this] {
    if (!over_) child_->go_on();
  });
}

void AcpTurn::started(int64_t last_taken) {
  if (over_) return;
  // The process of the turn before has gone meanwhile: ended() follows, and starts another one.
  if (kept_ && last_taken == lines::all_taken) return;
  const bool goes_on = std::exchange(kept_, false);
  started_ = true;
  // Sent before the server died, or not at all: then under the number that they have.
  std::deque<Frame> unsent;
  std::vector<Report> out;
  for (Frame& frame : state_.frames) {
    if (frame.number > last_taken) {
      unsent.push_back(std::move(frame));
      continue;
    }
    for (const MessageId& message : frame.messages) out.emplace_back(report::Taken{message});
  }
  state_.frames.clear();
  for (Frame& frame : unsent) {
    const std::string line = frame.opens ? session_line() : frame.line;
    put(line, line, std::move(frame));
  }
  answer_served();
  be_patient();
  if (state_.phase == Phase::starting) {
    state_.phase = Phase::initializing;
    state_.request = ++state_.last_request;
    const auto files = request_.agent->options.find("client_files");
    put(initialize_line(state_.request, options_.version,
                        files != request_.agent->options.end() && files->second == "true"));
  }
  if (goes_on && !stopping_) choose_or_prompt();
  if (state_.phase == Phase::settling) settle();
  if (state_.phase == Phase::leaving) leave();
  if (stopping_ && state_.phase < Phase::prompting) child_->stop(grace_ms);
  if (stopping_ && state_.phase == Phase::prompting) cancel_asks();
  for (const auto& [request_id, decided] : std::exchange(decided_, {})) give(request_id, decided.first, decided.second);
  tell(std::move(out));
}

void AcpTurn::taken(int64_t number) {
  std::vector<Report> out;
  while (!state_.frames.empty() && state_.frames.front().number <= number) {
    for (const MessageId& message : state_.frames.front().messages) out.emplace_back(report::Taken{message});
    state_.frames.pop_front();
  }
  if (!out.empty()) tell(std::move(out));
}

// It has closed its input or has ended; what it still says is read, and then it ends.
void AcpTurn::refused(int64_t number, const Error&) {
  std::erase_if(state_.frames, [&](const Frame& frame) { return frame.number == number; });
  if (state_.phase != Phase::leaving) child_->stop(grace_ms);
}

Status AcpTurn::send(const Message& message) {
  if (over_ || stopping_ || state_.phase == Phase::leaving) return fail(Code::conflict, "The turn is over.");
  if (known_.insert(message.id).second) waiting_.push_back(message);
  return {};
}

// ---- What it says

void AcpTurn::lines(std::span<const lines::Line> lines) {
  // The last words of a process that has gone while it waited are no part of this turn, which gets another one.
  if (over_ || kept_) return;
  alive_ = true;
  std::vector<Report> out;
  for (const lines::Line& line : lines) {
    if (state_.phase != Phase::leaving) take(parse_incoming(line.text), out);
    state_.next = line.next;
    if (over_) return;
  }
  if (state_.phase == Phase::settling) settle();
  if (state_.phase == Phase::prompting && state_.translator.has_unbegun())
    pause_.set(named_ms, [this] {
      std::vector<Report> begun;
      state_.translator.begin_all(begun);
      tell(std::move(begun));
    });
  tell(std::move(out));
  if (state_.phase == Phase::leaving && !stopping_timer_.pending()) can_keep() ? hand_over() : leave();
}

void AcpTurn::take(const Incoming& in, std::vector<Report>& out) {
  const bool ours = in.session.empty() || in.session == state_.session;
  switch (in.kind) {
    case Incoming::Kind::update:
      if (ours && in.update.type == Update::Type::health) state_.failing = in.update.failing;
      // Outside of a prompt it is what was said before, or nothing that is shown.
      if (ours && state_.phase == Phase::prompting) state_.translator.take(in.update, out);
      return;
    case Incoming::Kind::permission:
      return ask(in, out);
    case Incoming::Kind::read_file:
    case Incoming::Kind::write_file:
      return serve_file(in);
    case Incoming::Kind::request:
      return put(error_line(in.id, method_not_found, fmt::format("errand does not serve {}.", in.method)));
    case Incoming::Kind::result:
    case Incoming::Kind::error:
      if (in.number == state_.request && in.number >= 0) answered(in, out);
      return;
    case Incoming::Kind::notification:
    case Incoming::Kind::none:
      return;
  }
}

void AcpTurn::answered(const Incoming& in, std::vector<Report>& out) {
  state_.request = -1;
  if (state_.phase == Phase::prompting) return prompt_answered(in, out);
  if (state_.phase == Phase::choosing) {
    if (in.kind == Incoming::Kind::error)
      out.emplace_back(report::Warning{
          "choice_refused", fmt::format("{} refused a choice of its session: {}", agent_name(), in.error.message)});
    return choose_or_prompt();
  }
  if (in.kind == Incoming::Kind::error) {
    if (state_.phase == Phase::opening) return not_opened(in.error, out);
    return finish(outcome_of(in.error, state_.agent, command_text()), out);
  }
  if (state_.phase == Phase::initializing) return initialized(in.body, out);
  if (state_.phase == Phase::opening) return opened(in.body, out);
}

// ---- The way to the first prompt

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

// ---- Prompts

// What stands before the first prompt of a new session: the agent's own instructions, and the conversation where there
// is one (a fork's; that of a session which is gone).
std::vector<std::string> AcpTurn::prelude() {
  std::vector<std::string> texts;
  if (!std::exchange(state_.is_new, false)) return texts;
  if (!request_.agent->prompt.empty()) texts.push_back(request_.agent->prompt);
  std::vector<Message> before;
  std::ranges::copy_if(request_.history, std::back_inserter(before),
                       [&](const Message& message) { return !known_.contains(message.id); });
  if (before.empty()) return texts;
  // A fork's was cut when it was launched.
  if (!request_.task->launch.fork || !request_.task->driver_session.empty())
    if (Result<fork::Prepared> cut = fork::prepare(before, {}, {}, options_.fork_limits()))
      before = std::move(cut->messages);
  texts.push_back(fork::transcript(before));
  return texts;
}

void AcpTurn::prompt() {
  state_.phase = Phase::prompting;
  be_patient();
  Frame frame;
  std::vector<std::string> texts = prelude();
  for (const Message& message : waiting_) {
    texts.push_back(text_of(message));
    frame.messages.push_back(message.id);
  }
  waiting_.clear();
  state_.failing = false;
  if (texts.empty()) texts.emplace_back("Go on.");
  state_.request = ++state_.last_request;
  put(prompt_line(state_.request, state_.session, texts), std::move(frame));
}

void AcpTurn::prompt_answered(const Incoming& in, std::vector<Report>& out) {
  pause_.cancel();
  state_.translator.close(out);
  state_.asks.clear();
  if (in.kind == Incoming::Kind::error) {
    if (stopping_) return finish({.kind = Outcome::Kind::stopped}, out);
    return finish(outcome_of(in.error, state_.agent, command_text()), out);
  }
  const Stopped stopped = parse_stopped(in.body);
  // An agent that says what its session costs does so apart from the tokens: these are paid for with that.
  if (stopped.usage != Usage{})
    out.emplace_back(
        report::Used{.usage = stopped.usage,
                     .source = state_.translator.cost_usd() > 0 ? PriceSource::agent : PriceSource::unknown});
  if (stopping_) return finish({.kind = Outcome::Kind::stopped}, out);
  if (!waiting_.empty()) return prompt();
  if (state_.failing)
    return finish(
        outcome_of(RpcError{-32603, std::string(trim(state_.translator.said())), {}}, state_.agent, command_text()),
        out);
  finish(outcome_of(stopped, state_.translator.said()), out);
}

// ---- Its end

void AcpTurn::stop() {
  if (over_ || std::exchange(stopping_, true) || state_.phase == Phase::leaving) return;
  if (preparing_) return end({.kind = Outcome::Kind::stopped});
  if (!started_ || state_.phase < Phase::prompting) return child_->stop(grace_ms);
  cancel_asks();
  tell({});
}

// As the protocol has it: first the questions are answered, then it is told to stop.
void AcpTurn::cancel_asks() {
  for (const OpenAsk& ask : std::exchange(state_.asks, {})) put(permission_line(ask.rpc_id, ""));
  put(cancel_line(state_.session));
  stopping_timer_.set(cancel_ms, [this] { child_->stop(grace_ms); });
}

void AcpTurn::finish(Outcome outcome, std::vector<Report>& out) {
  if (state_.phase == Phase::leaving) return;
  state_.translator.close(out);
  state_.phase = Phase::leaving;
  state_.end = std::move(outcome);
  patience_.cancel();
  pause_.cancel();
  stopping_timer_.cancel();
}

// A limit of the processor's time is each run's own.
bool AcpTurn::can_keep() const {
  return holder_.keeps() && !stopping_ && state_.end && state_.end->kind == Outcome::Kind::completed &&
         state_.asks.empty() && state_.serving.empty() && state_.frames.empty() &&
         request_.task->launch.limits.cpu_s <= 0;
}

// The turn is over, and its process waits for the next one.
void AcpTurn::hand_over() {
  program::Kept kept{.run = child_->run(),
                     .next = state_.next,
                     .key = beginning_.key,
                     .state = encode(state_),
                     .cpu_s = std::max(cpu_s_, state_.cpu_from)};
  child_.reset();
  holder_.keep(request_.task->id, std::move(kept));
  end(*state_.end);
}

void AcpTurn::leave() {
  child_->close_input();
  stopping_timer_.set(leave_ms, [this] { child_->stop(grace_ms); });
}

void AcpTurn::ended(const lines::End& end_of_child) {
  if (over_) return;
  if (std::exchange(kept_, false) && !stopping_) {
    state_ = State();
    state_.translator = Translator(request_.task->progress.usage.cost_usd);
    child_ = holder_.child(beginning_.spawn.run, *this);
    return prepare();
  }
  std::vector<Report> out;
  state_.translator.close(out);
  if (!out.empty()) tell(std::move(out));
  if (stopping_ && (!state_.end || state_.end->kind != Outcome::Kind::completed))
    return end({.kind = Outcome::Kind::stopped});
  if (state_.end) return end(*state_.end);
  end(died(end_of_child, agent_name()));
}

void AcpTurn::end(Outcome outcome) {
  over_ = true;
  patience_.cancel();
  pause_.cancel();
  stopping_timer_.cancel();
  files_.clear();
  sink_.ended(std::move(outcome));
}

void AcpTurn::drop() {
  if (std::exchange(over_, true)) return;
  patience_.cancel();
  pause_.cancel();
  stopping_timer_.cancel();
  files_.clear();
  if (child_) child_->drop();
}

// ---- Signs of life

void AcpTurn::used(const process::RunUsage& usage) {
  if (over_) return;
  cpu_s_ = usage.cpu_s;
  sink_.report({report::Resources{usage.cpu_s - state_.cpu_from, usage.memory_bytes, false}}, encode(state_));
}

// An agent that waits for its model says nothing and does nothing: only words and work count.
void AcpTurn::probe() {
  if (over_ || !started_) return;
  if (std::exchange(alive_, false)) return tell({});
  child_->usage([this](const Result<process::RunUsage>& usage) {
    if (over_ || !usage) return;
    const bool works = usage->cpu_s > probed_cpu_s_ || usage->io_bytes != probed_io_;
    probed_cpu_s_ = usage->cpu_s;
    probed_io_ = usage->io_bytes;
    if (works) return tell({report::Resources{usage->cpu_s - state_.cpu_from, usage->memory_bytes}});
    tell({report::Still{
        fmt::format("{} has said nothing, and its {} processes do nothing", agent_name(), usage->processes)}});
  });
}

}  // namespace errand::acp
