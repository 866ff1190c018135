#include "driver/acp/acp_turn.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/run/spawn.h"

namespace errand::acp {

namespace {

constexpr Millis named_ms = 400;     // As long may the arguments of a call take that was named.
constexpr Millis cancel_ms = 5'000;  // For an agent to say that it has stopped.
constexpr Millis leave_ms = 700;     // For it to leave by itself when its input ends.
constexpr Millis grace_ms = 3'000;

std::string limit_text(const std::string& who) { return who + " waits for the usage limit of its account."; }

// What a call has printed is in a terminal of ours.
Update with_output(Update update, const Terminals& terminals) {
  if (update.type == Update::Type::call && !update.call.terminal.empty() && !update.call.output)
    if (std::string text = terminals.last_output(update.call.terminal); !text.empty())
      update.call.output = std::move(text);
  return update;
}

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
      limit_timer_(parts.timers),
      quiet_(parts.timers),
      terminals_({.supervisor = parts.supervisor,
                  .options = options.command,
                  .files = files_,
                  .answer = [this](const std::string& id, std::string line) { served(id, std::move(line)); },
                  .alive = [this] { alive_ = true; }},
                 request_.task),
      kept_(beginning_.kept) {
  terminals_.ended = [this](const std::string& id) { terminal_ended(id); };
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
  child_ = holder_.child(*request_.task, state_.run.empty() ? beginning_.spawn.run : state_.run, *this);
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
  if (!starts_.empty())
    sink_.when_stored([this, starts = std::exchange(starts_, {})]() mutable {
      if (over_) return;
      for (Start& start : starts) terminals_.start(start.open, std::move(start.spawn), std::move(start.request));
    });
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
  for (const OpenTerminal& open : state_.terminals) terminals_.take_up(open);
  be_patient();
  if (state_.phase == Phase::starting) {
    state_.phase = Phase::initializing;
    state_.request = ++state_.last_request;
    const auto serves = [&](const char* option) {
      const auto found = request_.agent->options.find(option);
      return found != request_.agent->options.end() && found->second == "true";
    };
    put(initialize_line(state_.request, options_.version, serves("client_files"), serves("client_terminals")));
  }
  if (state_.until) {
    out.emplace_back(report::Waits{WaitKind::quota, limit_text(agent_name()), state_.until});
    sleep();
  } else if (request_.reattach) {
    out.emplace_back(report::GoesOn{});
  }
  if (goes_on && !stopping_ && !beginning_.began) choose_or_prompt();
  if (!stopping_ && (state_.by_itself || (goes_on && beginning_.began))) listen(out);
  if (state_.phase == Phase::settling) settle();
  if (state_.phase == Phase::leaving) leave();
  if (stopping_ && (state_.phase < Phase::prompting || state_.until)) child_->stop(grace_ms);
  if (stopping_ && state_.phase == Phase::prompting && !state_.until) cancel_asks();
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
  if (!started_ || !state_.by_itself) return {};
  std::vector<Report> out;
  listen(out);
  tell(std::move(out));
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
  if (state_.phase == Phase::prompting && state_.by_itself) wait_for_quiet();
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
      if (ours && state_.phase == Phase::prompting) state_.translator.take(with_output(in.update, terminals_), out);
      return;
    case Incoming::Kind::permission:
      return ask(in, out);
    case Incoming::Kind::read_file:
    case Incoming::Kind::write_file:
      return serve_file(in);
    case Incoming::Kind::terminal:
      return serve_terminal(in);
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

// ---- Its end

void AcpTurn::stop() {
  if (over_ || std::exchange(stopping_, true) || state_.phase == Phase::leaving) return;
  if (preparing_) return end({.kind = Outcome::Kind::stopped});
  limit_timer_.cancel();
  // The protocol knows no way to cancel what it was not asked for.
  if (!started_ || state_.phase < Phase::prompting || state_.until || state_.by_itself) return child_->stop(grace_ms);
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
  quiet_.cancel();
  stopping_timer_.cancel();
}

// A limit of the processor's time is each run's own.
bool AcpTurn::can_keep() const {
  return holder_.keeps() && !stopping_ && state_.end && state_.end->kind == Outcome::Kind::completed &&
         state_.asks.empty() && state_.serving.empty() && state_.terminals.empty() && state_.frames.empty() &&
         request_.task->launch.limits.cpu_s <= 0;
}

// The turn is over, and its process waits for the next one.
void AcpTurn::hand_over() {
  program::Kept kept{.run = child_->run(),
                     .next = state_.next,
                     .key = beginning_.key,
                     .state = encode(state_),
                     .cpu_s = std::max(cpu_s_, state_.cpu_from),
                     .begun = told_ ? 0 : state_.begun};
  child_.reset();
  holder_.keep(*request_.task, std::move(kept));
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
    child_ = holder_.child(*request_.task, beginning_.spawn.run, *this);
    return prepare();
  }
  std::vector<Report> out;
  if (std::exchange(state_.until, {})) out.emplace_back(report::GoesOn{});
  state_.translator.close(out);
  if (!out.empty()) tell(std::move(out));
  if (stopping_ && (!state_.end || state_.end->kind != Outcome::Kind::completed))
    return end({.kind = Outcome::Kind::stopped});
  if (state_.end) return end(*state_.end);
  end(died(end_of_child, agent_name()));
}

// Its terminals end with it, and the end is told when none of them is left.
void AcpTurn::end(Outcome outcome) {
  over_ = true;
  cancel_timers();
  files_.clear();
  terminals_.end_all([this, outcome = std::move(outcome)]() mutable { sink_.ended(std::move(outcome)); });
}

void AcpTurn::drop() {
  // Also where its end waits for its terminals.
  terminals_.drop();
  if (std::exchange(over_, true)) return;
  cancel_timers();
  files_.clear();
  if (child_) child_->drop();
}

void AcpTurn::cancel_timers() {
  for (Timer* timer : {&patience_, &pause_, &stopping_timer_, &limit_timer_, &quiet_}) timer->cancel();
}

// ---- Signs of life

void AcpTurn::used(const process::RunUsage& usage) {
  if (over_) return;
  cpu_s_ = usage.cpu_s;
  sink_.report({report::Resources{usage.cpu_s - state_.cpu_from, usage.memory_bytes, false}}, encode(state_));
}

// An agent that waits for its model says nothing and does nothing: only words and work count.
void AcpTurn::probe() {
  if (over_ || !started_ || state_.until) return;
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
