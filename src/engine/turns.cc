// Turns at work: opening them, passing things in and out.
#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {

constexpr Millis stop_patience_ms = 30'000;
constexpr int notices_at_once = 100;

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

// Adds texts to those that wait, joined where they go on in the same part.
void join_texts(std::vector<Report>& waiting, std::vector<Report> more) {
  for (Report& report : more) {
    auto* const last = waiting.empty() ? nullptr : std::get_if<report::Text>(&waiting.back());
    const auto& text = std::get<report::Text>(report);
    if (last != nullptr && last->part == text.part && last->reasoning == text.reasoning)
      last->text += text.text;
    else
      waiting.push_back(std::move(report));
  }
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

// What a turn needs before it is opened.
struct EngineImpl::Opening {
  std::vector<Message> history;
  std::vector<Notice> notices;  // To the task's own session, not taken yet.
  std::vector<Purse> purses;
  bool orphaned = false;
};

void EngineImpl::open_turn(const LivePtr& live, bool reattach) {
  live->opening = true;
  const Task& task = *live->task;
  // A first turn has no history (but what a fork took over), and a command never has.
  const bool plain =
      task.launch.kind == TaskKind::command || (task.turn == 1 && task.run == 1 && !reattach && !task.is_forked);
  if (plain && task.launch.ancestors.empty() && task.launch.budget == Budget{}) {
    open_now(live, reattach, {});
    return;
  }
  read(
      [task = live->task, plain, reattach, payers = purses_.join(task)](Store& store) -> Result<Opening> {
        Opening opening;
        Result<bool> orphaned = is_orphaned(store, *task);
        if (!orphaned) return std::unexpected(orphaned.error());
        opening.orphaned = *orphaned;
        Result<std::vector<Purse>> purses = read_purses(store, payers);
        if (!purses) return std::unexpected(purses.error());
        opening.purses = std::move(*purses);
        if (plain) return opening;
        if (!reattach) {
          Result<std::vector<Notice>> notices = store.notices(task->session_id, 0, notices_at_once);
          if (!notices) return std::unexpected(notices.error());
          opening.notices = std::move(*notices);
        }
        Result<std::vector<Message>> history = read_history(store, *task);
        if (!history) return std::unexpected(history.error());
        opening.history = std::move(*history);
        return opening;
      },
      [this, live, reattach](Result<Opening> opening) {
        if (live->removed) return open_now(live, reattach, {});
        if (opening) return opening_read(live, reattach, std::move(*opening));
        // The store cannot be read now. Without its conversation the turn would be another one: it waits.
        timers_.add(store_retry_ms, [this, live, reattach] { open_turn(live, reattach); });
        schedule();
      });
}

void EngineImpl::opening_read(const LivePtr& live, bool reattach, Opening opening) {
  purses_.open(*live->task, std::move(opening.purses), wall());
  if (opening.orphaned && at_work(live->task->state)) {
    submit(live, {.input = input::Cancel{"parent"}});
    if (!reattach) {  // There is nothing yet that could be stopped.
      live->opening = false;
      return;
    }
  }
  // Notices that came while it was at rest go into the conversation before the turn is given it.
  std::erase_if(opening.notices, [&](const Notice& notice) {
    return live->taken_notices.contains(notice.id) ||
           std::ranges::find(live->task->waiting, notice.id, &WaitingMessage::notice) != live->task->waiting.end();
  });
  if (opening.notices.empty() || !at_work(live->task->state) || live->task->stopping) {
    spend(live, true);  // A budget that is used up ends it at once: before anything that the turn itself says.
    open_now(live, reattach, std::move(opening.history));
    return;
  }
  for (size_t i = 0; i < opening.notices.size(); ++i) {
    Action action = noticed(live->task->session_id, opening.notices[i], false);
    if (i + 1 == opening.notices.size())
      action.reply = [this, live, reattach](Result<TaskPtr> stored) {
        if (stored || live->removed) return open_turn(live, reattach);
        timers_.add(store_retry_ms, [this, live, reattach] { open_turn(live, reattach); });
        schedule();
      };
    submit(live, std::move(action));
  }
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
  // What was sent since the history was read is given as a message, and stands in neither twice.
  std::erase_if(history, [&](const Message& message) {
    const auto waiting = std::ranges::find(task.waiting, message.id, &WaitingMessage::id);
    return waiting != task.waiting.end() && !waiting->taken;
  });
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
  if (unwanted) return stop_turn(live);
  if (reattach || task.turn > 1) deliver_notices(live);  // And what came meanwhile.
}

// After a restart. What its agent was saying is cut here, unless the driver goes on in that very message.
void EngineImpl::take_up_turn(const LivePtr& live) {
  const Driver* const driver = driver_of(*live->task);
  const bool goes_on = driver == nullptr || driver->capabilities().keeps_message;
  if (goes_on || !live->recorder.has_open() || live->removed) return open_turn(live, true);
  Action action{.input = input::Activity{live->task->run}, .take_up = true};
  action.reply = [this, live](Result<TaskPtr> closed) {
    if (closed || live->removed) return open_turn(live, true);
    timers_.add(store_retry_ms, [this, live] { take_up_turn(live); });
  };
  live->opening = true;
  submit(live, std::move(action));
}

// A driver that does not answer a stop is let go after a while: drop() leaves nothing behind.
void EngineImpl::stop_turn(const LivePtr& live) {
  const int run = live->sink->run();
  if (live->stop_timer == 0)
    live->stop_timer = timers_.add(stop_patience_ms, [this, live, run] {
      live->stop_timer = 0;
      if (!live->turn || live->sink->run() != run) return;
      log_warning("engine", "the driver of " + live->id.value + " did not answer a stop; its turn is dropped");
      live->sink->mute();
      live->turn->drop();
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

void EngineImpl::reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  if (reports.size() == 1)
    if (auto* still = std::get_if<report::Still>(&reports.front())) {
      live->seen = std::move(still->seen);
      return;
    }
  const bool sign = std::ranges::any_of(reports, [](const Report& report) {
    const auto* used = std::get_if<report::Resources>(&report);
    return used == nullptr || used->just_now;
  });
  if (sign) {
    live->last_sign = steady();
    live->warned = false;
    live->seen.clear();
  }
  Action action{.input = input::Activity{sink.run()}, .checkpoint = std::move(checkpoint)};
  action.soft =
      std::ranges::all_of(reports, [](const Report& report) { return std::holds_alternative<report::Text>(report); });
  if (action.soft) {
    live->soft_bytes += text_bytes(reports);
    if (!live->soft_until)
      live->soft_until =
          steady() + (feeds_.is_read(live->id) ? settings_.delta_watched_ms : settings_.delta_unwatched_ms);
  }
  const size_t bytes = weight(reports) + action.checkpoint.size();
  const size_t added = text_bytes(reports);
  action.report = ++live->reported;
  // Small pieces of text come by the thousand: those that wait together are one.
  if (Action* const last = action.soft && !live->inbox.empty() ? &live->inbox.back() : nullptr;
      last != nullptr && last->soft && std::get<input::Activity>(last->input).run == sink.run()) {
    join_texts(last->reports, std::move(reports));
    last->checkpoint = std::move(action.checkpoint);
    last->report = action.report;
    last->charge.add(added);
    to_pump_.push_back(live);
    return schedule();
  }
  action.reports = std::move(reports);
  action.charge = Charge(sink.backlog(), sizeof(Action) + bytes);
  submit(live, std::move(action));
}

bool EngineImpl::has_room(const TurnSink& sink) const {
  const LivePtr live = sink.live();
  if (!live || live->removed) return true;  // Nothing of it is stored any more.
  return sink.backlog()->bytes < settings_.turn_bytes && reports_backlog_->bytes < settings_.turns_bytes;
}

void EngineImpl::when_room(TurnSink& sink, Work then) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  if (!live->when_room) want_room_.push_back(live);
  live->when_room = std::move(then);
  live->soft_until = Time{};  // A turn that waits says nothing more that could be merged.
  to_pump_.push_back(live);
  schedule();
}

// Turns that were told to wait go on, where enough of what they reported is stored.
void EngineImpl::give_room() {
  std::erase_if(want_room_, [this](const LivePtr& live) {
    if (!live->when_room || !live->sink) return true;
    if (!has_room(*live->sink)) return false;
    parts_.loop.post([alive = std::weak_ptr(alive_), live, sink = live->sink.get(),
                      then = std::exchange(live->when_room, nullptr)]() mutable {
      if (!alive.expired() && live->turn && live->sink.get() == sink) then();
    });
    return true;
  });
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
  live->finished_run = sink.run();
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
  live.when_room = nullptr;
  if (live.sink) live.sink->mute();
  if (live.turn) dead_turns_.push_back(std::move(live.turn));
  if (live.sink) dead_sinks_.push_back(std::move(live.sink));
  schedule();
}

}  // namespace errand
