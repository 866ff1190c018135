// Turns at work: opening them, passing things in and out, and their deadlines.
#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {

constexpr Millis stop_patience_ms = 30'000;
constexpr Millis command_slack_ms = 30'000;
constexpr int history_page = 500;
constexpr size_t history_max = 20'000;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

size_t text_bytes(const std::vector<Report>& reports) {
  size_t bytes = 0;
  for (const Report& report : reports)
    if (const auto* text = std::get_if<report::Text>(&report)) bytes += text->text.size();
  return bytes;
}

// The driver is asked this often whether a silent turn does anything: what it did before it was last asked is told from
// what it does now.
Millis probe_every(Millis limit) { return std::max<Millis>(limit / 8, 1); }
// And once more, this long before something follows from its silence.
Millis probe_before(Millis limit) { return std::clamp<Millis>(limit / 16, 1, 1'000); }

// The conversation before what the turn is given: for drivers that keep none of their own.
Result<std::vector<Message>> read_history(Store& store, const Task& task, bool reattach) {
  const std::vector<MessageId> given = messages_to_give(task, reattach);
  std::vector<Message> history;
  int64_t after = 0;
  while (history.size() < history_max) {
    Result<MessagePage> page = store.messages(task.session_id, after, 0, history_page);
    if (!page) return std::unexpected(page.error());
    if (page->messages.empty()) break;
    for (Message& message : page->messages) {
      after = message.seq;
      if (std::ranges::find(given, message.id) == given.end()) history.push_back(std::move(message));
    }
    if (!page->more) break;
  }
  return history;
}

}  // namespace

void EngineImpl::perform(const LivePtr& live, std::vector<Effect> effects) {
  for (Effect& effect : effects) {
    std::visit(Overloaded{
                   [&](const effect::Open&) { open_turn(live, false); },
                   [&](const effect::Stop& stop) {
                     if (live->turn && live->sink->run() == stop.run)
                       stop_turn(live);
                     else if (!live->opening)
                       end_without_turn(live, stop.run);
                   },
                   [&](const effect::Send& send) {
                     const auto body = live->messages.find(send.message);
                     // Where the turn is still being opened it is given all that waits. Where the driver cannot take it
                     // now, it stays waiting and makes the next turn.
                     if (live->turn && body != live->messages.end()) std::ignore = live->turn->send(body->second);
                   },
                   [&](const effect::Answer& answer) {
                     if (live->turn) live->turn->answer(answer.request_id, answer.decision, answer.message);
                   },
               },
               effect);
  }
}

void EngineImpl::open_turn(const LivePtr& live, bool reattach) {
  live->opening = true;
  const Task& task = *live->task;
  // A first turn has no history (but what a fork took over), and a command never has.
  if (task.launch.kind == TaskKind::command || (task.turn == 1 && task.run == 1 && !reattach && !task.is_forked)) {
    open_now(live, reattach, {});
    return;
  }
  read([task = live->task, reattach](Store& store) { return read_history(store, *task, reattach); },
       [this, live, reattach](Result<std::vector<Message>> history) {
         if (history) return open_now(live, reattach, std::move(*history));
         if (live->removed) return open_now(live, reattach, {});
         // The store cannot be read now. Without its conversation the turn would be another one: it waits.
         timers_.add(store_retry_ms, [this, live, reattach] { open_turn(live, reattach); });
         schedule();
       });
}

void EngineImpl::open_now(const LivePtr& live, bool reattach, std::vector<Message> history) {
  live->opening = false;
  const Task& task = *live->task;
  const int run = task.run;
  // Stopped before it was opened: there is nothing to end. One that is taken up again may still have processes.
  const bool unwanted = live->removed || !at_work(task.state) || task.stopping;
  if (unwanted && !reattach) {
    end_without_turn(live, run);
    return;
  }
  bury(*live);
  live->sink = std::make_unique<TurnSink>(*this, live, run);
  TurnRequest request{.task = live->task,
                      .history = std::move(history),
                      .reattach = reattach,
                      .agent = find_agent(task.launch.agent_id)};
  for (const MessageId& id : messages_to_give(task, reattach))
    if (const auto body = live->messages.find(id); body != live->messages.end())
      request.messages.push_back(body->second);
  Driver* const driver = driver_of(task);
  Result<std::unique_ptr<Turn>> turn = fail(Code::unsupported, "The agent of this task is no longer configured.");
  if (driver != nullptr) turn = driver->open(std::move(request), *live->sink);
  if (!turn) {
    Outcome outcome{.kind = Outcome::Kind::failed};
    outcome.error = TaskError{"spawn_failed", turn.error().message, {}};
    live->sink->ended(std::move(outcome));
    return;
  }
  if (!live->sink) {  // It ended inside open(): its sink is buried already, and so is the turn.
    dead_turns_.push_back(std::move(*turn));
    return;
  }
  live->turn = std::move(*turn);
  arm_deadlines(live, reattach);
  if (unwanted) stop_turn(live);
}

// After a restart. What its agent was saying is cut here, unless the driver goes on in that very message.
void EngineImpl::take_up_turn(const LivePtr& live) {
  const Driver* const driver = driver_of(*live->task);
  if (!live->recorder.has_open() || driver == nullptr || driver->capabilities().keeps_message)
    return open_turn(live, true);
  Action action{.input = input::Activity{live->task->run}, .take_up = true};
  action.reply = [this, live](Result<Task> closed) {
    if (closed || live->removed) return open_turn(live, true);
    timers_.add(store_retry_ms, [this, live] { take_up_turn(live); });
  };
  live->opening = true;
  submit(live, std::move(action));
}

// A driver that does not answer a stop is let go after a while: ~Turn leaves nothing behind.
void EngineImpl::stop_turn(const LivePtr& live) {
  const int run = live->sink->run();
  if (live->stop_timer == 0)
    live->stop_timer = timers_.add(stop_patience_ms, [this, live, run] {
      live->stop_timer = 0;
      if (!live->turn || live->sink->run() != run) return;
      log_warning("engine", "the driver of " + live->id.value + " did not answer a stop; its turn is dropped");
      live->sink->mute();
      live->turn.reset();  // At once: nothing of it may be left when somebody is told that it ended.
      bury(*live);
      end_without_turn(live, run);
    });
  schedule();
  live->turn->stop();
}

// The run has no turn: whatever it was, it is over.
void EngineImpl::end_without_turn(const LivePtr& live, int run) {
  if (live->removed) {
    ghost_gone(live);
    return;
  }
  submit(live, {.input = input::TurnEnded{.run = run, .outcome = input::TurnEnded::Outcome::stopped}});
}

bool EngineImpl::read_live(const TaskId& id) const {
  const auto feed = feeds_.find(id);
  const std::shared_ptr<Feed> held = feed == feeds_.end() ? nullptr : feed->second.lock();
  return (held && held->read_by_anybody()) || all_->read_by_anybody();
}

void EngineImpl::reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  if (reports.size() == 1)
    if (auto* still = std::get_if<report::Still>(&reports.front())) {
      live->seen = std::move(still->seen);
      return;
    }
  live->last_sign = steady();
  live->warned = false;
  live->seen.clear();
  Action action{.input = input::Activity{sink.run()}, .checkpoint = std::move(checkpoint)};
  action.soft =
      std::ranges::all_of(reports, [](const Report& report) { return std::holds_alternative<report::Text>(report); });
  if (action.soft) {
    live->soft_bytes += text_bytes(reports);
    if (!live->soft_until)
      live->soft_until =
          live->last_sign + (read_live(live->id) ? settings_.delta_watched_ms : settings_.delta_unwatched_ms);
  }
  action.reports = std::move(reports);
  action.report = ++live->reported;
  submit(live, std::move(action));
}

void EngineImpl::when_stored(TurnSink& sink, Work then) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  live->when_stored.emplace_back(live->reported, std::move(then));
  live->soft_until = Time{};  // Somebody waits: nothing is merged any longer.
  to_pump_.push_back(live);
  reports_stored(live, {});
  schedule();
}

// These actions are settled: those who wait for the last of them are called.
void EngineImpl::reports_stored(const LivePtr& live, const std::vector<Action>& actions) {
  for (const Action& action : actions) live->stored = std::max(live->stored, action.report);
  while (!live->when_stored.empty() && live->when_stored.front().first <= live->stored) {
    parts_.loop.post([alive = std::weak_ptr(alive_), live, sink = live->sink.get(),
                      then = std::move(live->when_stored.front().second)]() mutable {
      // The turn that asked is still the one at work.
      if (!alive.expired() && live->turn && live->sink.get() == sink) then();
    });
    live->when_stored.pop_front();
  }
}

void EngineImpl::turn_ended(TurnSink& sink, Outcome outcome) {
  const LivePtr live = sink.live();
  if (!live) return;
  live->over_run = sink.run();
  disarm_deadlines(*live);
  if (live->removed) {
    bury(*live);
    ghost_gone(live);
    return;
  }
  if (outcome.kind == Outcome::Kind::lost) {
    submit(live, {.input = input::Lost{
                      sink.run(), outcome.error ? outcome.error->message
                                                : "The server or the supervisor was ended while it ran, and nobody "
                                                  "knows how far it got; retry starts it again."}});
    bury(*live);
    return;
  }
  input::TurnEnded ended{.run = sink.run(),
                         .result = std::move(outcome.result),
                         .error = std::move(outcome.error),
                         .exit_code = outcome.exit_code,
                         .signal = outcome.signal,
                         .artifacts = std::move(outcome.artifacts)};
  switch (outcome.kind) {
    case Outcome::Kind::completed:
      ended.outcome = input::TurnEnded::Outcome::completed;
      break;
    case Outcome::Kind::failed:
      ended.outcome = input::TurnEnded::Outcome::failed;
      break;
    default:
      ended.outcome = input::TurnEnded::Outcome::stopped;
      break;
  }
  submit(live, {.input = std::move(ended)});
  bury(*live);
}

// The turn may be in the middle of calling us: it is destroyed at the next tick.
void EngineImpl::bury(Live& live) {
  live.when_stored.clear();
  if (live.sink) live.sink->mute();
  if (live.turn) dead_turns_.push_back(std::move(live.turn));
  if (live.sink) dead_sinks_.push_back(std::move(live.sink));
  schedule();
}

void EngineImpl::disarm_deadlines(Live& live) {
  for (Timers::Key* key : {&live.timeout_timer, &live.idle_timer, &live.progress_timer, &live.stop_timer})
    timers_.cancel(std::exchange(*key, 0));
}

void EngineImpl::arm_deadlines(const LivePtr& live, bool reattached) {
  disarm_deadlines(*live);
  const Task& task = *live->task;
  const Launch& launch = task.launch;
  const int run = task.run;
  live->last_sign = steady();
  live->warned = false;
  live->seen.clear();
  if (launch.timeout_ms > 0) {
    // A command's own deadline is the supervisor's, whose end says more: the signal, the last lines, what was left.
    // This one is for a supervisor that does not answer, and for a run that was begun again: that one counts anew.
    const Millis slack = launch.kind == TaskKind::command && task.restarts == 0 ? command_slack_ms : 0;
    live->timeout_timer = timers_.add(time_left(*live, reattached) + slack, [this, live, run, launch] {
      live->timeout_timer = 0;
      submit(live, {.input = input::Deadline{
                        run, input::Deadline::Which::timeout,
                        fmt::format("It was ended after its timeout of {}.", format_duration(launch.timeout_ms))}});
    });
  }
  if (launch.idle_timeout_ms > 0) arm_idle(live);
  arm_progress(live);
  schedule();
}

// Of the timeout: the wall time of the whole task, also over restarts of its turn and of the server; a follow-up has a
// clock of its own. What began under this server is counted by the steady clock.
Millis EngineImpl::time_left(Live& live, bool reattached) {
  const Task& task = *live.task;
  const Millis timeout = task.launch.timeout_ms;
  if (live.began.attempt != task.attempt || live.began.resume_count != task.resume_count) {
    live.began = {task.attempt, task.resume_count, steady()};
    // Begun under an earlier server. A command's deadline is the supervisor's, which knows better than two readings of
    // a clock that may have been set between them; another's is the difference of the two.
    if (reattached && task.launch.kind != TaskKind::command && task.resume_count == 0)
      live.began.at = steady() - std::clamp<Millis>(wall() - task.started_at, 0, timeout);
  }
  return std::max<Millis>(live.began.at + timeout - steady(), 0);
}

void EngineImpl::arm_idle(const LivePtr& live) {
  const int run = live->task->run;
  const Millis limit = live->task->launch.idle_timeout_ms;
  const Time due = live->last_sign + (live->warned ? limit : limit / 2);
  const Time last_probe = due - probe_before(limit);
  const Time now = steady();
  const Time next = now < last_probe ? std::min(now + probe_every(limit), last_probe) : due;
  live->idle_timer = timers_.add(std::max<Millis>(next - now, 1), [this, live, run] {
    live->idle_timer = 0;
    idle_due(live, run);
  });
}

// Half of the idle limit without a sign of life is a warning; all of it, a hang.
void EngineImpl::idle_due(const LivePtr& live, int run) {
  if (live->removed || !live->task || live->task->run != run || live->task->phase != TurnPhase::working || !live->turn)
    return;
  const Millis limit = live->task->launch.idle_timeout_ms;
  // It waits for somebody or something: its clock stands still.
  if (waits(*live->task)) live->last_sign = steady();
  const Millis silent = steady() - live->last_sign;
  if (silent < (live->warned ? limit : limit / 2)) {
    live->turn->probe();
    return arm_idle(live);
  }
  std::string seen = fmt::format("No event, no output, no CPU use and no I/O for {}", format_duration(silent));
  if (!live->seen.empty()) seen += ": " + live->seen;
  seen += '.';
  if (live->warned) {
    submit(live, {.input = input::Deadline{run, input::Deadline::Which::idle, std::move(seen)}});
    // Where nothing comes of it, because a question was under way: it is watched again.
    live->last_sign = steady();
    live->warned = false;
    return arm_idle(live);
  }
  live->warned = true;
  seen += fmt::format(" After {} it counts as hung.", format_duration(limit));
  submit(live, {.input = input::Deadline{run, input::Deadline::Which::idle_warning, std::move(seen)}});
  arm_idle(live);
}

void EngineImpl::arm_progress(const LivePtr& live) {
  const Millis every = live->task->launch.progress_every_ms;
  if (every <= 0 || !live->turn) return;
  const int run = live->task->run;
  live->progress_timer = timers_.add(every, [this, live, run] {
    live->progress_timer = 0;
    if (live->removed || live->task->run != run || !live->turn) return;
    submit(live, {.input = input::ProgressDue{run}});
    arm_progress(live);
  });
}

}  // namespace errand
