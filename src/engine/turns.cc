#include "engine/turns.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/history.h"
#include "engine/subtree.h"

namespace errand {
namespace {

constexpr Millis stop_patience_ms = 30'000;
constexpr int notices_at_once = 100;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

Turns::Turns(Rooms rooms)
    : shared_(rooms.shared),
      lives_(rooms.lives),
      slots_(rooms.slots),
      agents_(rooms.agents),
      feeds_(rooms.feeds),
      purses_(rooms.purses),
      reports_(rooms.reports),
      deadlines_(rooms.deadlines),
      own_notices_(rooms.own_notices) {}

Turns::~Turns() = default;

void Turns::perform(const LivePtr& live, std::vector<Effect> effects) {
  for (Effect& effect : effects) {
    std::visit(Overloaded{
                   [&](const effect::Open&) { open(live, false); },
                   [&](const effect::Stop& asked) {
                     if (live->turn && live->sink->run() == asked.run)
                       stop(live);
                     else if (!live->opening)
                       end_without_turn(live, asked.run);
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
struct Turns::Opening {
  std::vector<Message> history;
  std::vector<Notice> notices;  // To the task's own session, not taken yet.
  std::vector<Purse> purses;
  bool orphaned = false;
};

void Turns::open(const LivePtr& live, bool reattach) {
  live->opening = true;
  const Task& task = *live->task;
  // A first turn has no history (but what a fork took over), and a command never has.
  const bool plain =
      task.launch.kind == TaskKind::command || (task.turn == 1 && task.run == 1 && !reattach && !task.is_forked);
  if (plain && task.launch.ancestors.empty() && task.launch.budget == Budget{}) {
    open_now(live, reattach, {});
    return;
  }
  shared_.read(
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
        // Without its conversation the turn would be another one: it waits.
        open_again_later(live, reattach);
      });
}

// The store cannot be used now.
void Turns::open_again_later(const LivePtr& live, bool reattach) {
  shared_.timers.add(store_retry_ms, [this, live, reattach] { open(live, reattach); });
  shared_.schedule();
}

void Turns::opening_read(const LivePtr& live, bool reattach, Opening opening) {
  purses_.open(*live->task, std::move(opening.purses), shared_.wall());
  if (opening.orphaned && at_work(live->task->state)) {
    lives_.submit(live, {.input = input::Cancel{"parent"}});
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
    // A budget that is used up ends it at once: before anything that the turn itself says.
    deadlines_.spend(live, true);
    open_now(live, reattach, std::move(opening.history));
    return;
  }
  for (size_t i = 0; i < opening.notices.size(); ++i) {
    Action action = own_notices_.noticed(live->task->session_id, opening.notices[i], false);
    if (i + 1 == opening.notices.size())
      action.reply = [this, live, reattach](Result<TaskPtr> stored) {
        if (stored || live->removed) return open(live, reattach);
        open_again_later(live, reattach);
      };
    lives_.submit(live, std::move(action));
  }
}

void Turns::open_now(const LivePtr& live, bool reattach, std::vector<Message> history) {
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
  live->sink = std::make_unique<TurnSink>(reports_, *this, live, run, shared_.reports_backlog);
  TurnRequest request{.task = live->task,
                      .history = std::move(history),
                      .reattach = reattach,
                      .agent = agents_.find(task.launch.agent_id)};
  for (const MessageId& id : messages_to_give(task, reattach))
    if (const auto body = live->messages.find(id); body != live->messages.end())
      request.messages.push_back(body->second);
  Driver* const driver = agents_.driver_of(task);
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
  deadlines_.arm(live, reattach);
  if (unwanted) return stop(live);
  if (reattach || task.turn > 1) own_notices_.deliver(live);  // And what came meanwhile.
}

void Turns::take_up(const LivePtr& live) {
  const Driver* const driver = agents_.driver_of(*live->task);
  const bool goes_on = driver == nullptr || driver->capabilities().keeps_message;
  if (goes_on || !live->recorder.has_open() || live->removed) return open(live, true);
  Action action{.input = input::Activity{live->task->run}, .take_up = true};
  action.reply = [this, live](Result<TaskPtr> closed) {
    if (closed || live->removed) return open(live, true);
    shared_.timers.add(store_retry_ms, [this, live] { take_up(live); });
  };
  live->opening = true;
  lives_.submit(live, std::move(action));
}

// A driver that does not answer a stop is let go after a while: drop() leaves nothing behind.
void Turns::stop(const LivePtr& live) {
  const int run = live->sink->run();
  if (live->stop_timer == 0)
    live->stop_timer = shared_.timers.add(stop_patience_ms, [this, live, run] {
      live->stop_timer = 0;
      if (!live->turn || live->sink->run() != run) return;
      log_warning("engine", "the driver of " + live->id.value + " did not answer a stop; its turn is dropped");
      live->sink->mute();
      live->turn->drop();
      live->turn.reset();  // At once: nothing of it may be left when somebody is told that it ended.
      bury(*live);
      end_without_turn(live, run);
    });
  shared_.schedule();
  live->turn->stop();
}

// The run has no turn: whatever it was, it is over.
void Turns::end_without_turn(const LivePtr& live, int run) {
  if (live->removed) {
    ghost_gone(live);
    return;
  }
  lives_.submit(live, {.input = input::TurnEnded{.run = run, .outcome = input::TurnEnded::Outcome::stopped}});
}

// The turn may be in the middle of calling us: it is destroyed at the next tick.
void Turns::bury(Live& live) {
  live.when_stored.clear();
  live.when_room = nullptr;
  if (live.sink) live.sink->mute();
  if (live.turn) dead_turns_.push_back(std::move(live.turn));
  if (live.sink) dead_sinks_.push_back(std::move(live.sink));
  shared_.schedule();
}

void Turns::destroy_dead() {
  dead_turns_.clear();
  dead_sinks_.clear();
}

// Turns before their sinks.
void Turns::leave() {
  lives_.each([](const LivePtr& live) {
    if (live->sink) live->sink->mute();
    live->turn.reset();
  });
}

void Turns::leave_drivers() {
  std::set<const Driver*> at_work;
  lives_.each([&](const LivePtr& live) {
    if (live->task && (live->removed || live->task->phase == TurnPhase::working))
      at_work.insert(agents_.driver_of(*live->task));
  });
  for (const auto& [name, driver] : agents_.drivers()) driver->server_leaves(at_work.contains(driver));
}

void Turns::ghost_gone(const LivePtr& live) {
  slots_.release(live->id);
  if (live->task)
    if (Driver* const driver = agents_.driver_of(*live->task)) driver->forget(live->id);
  feeds_.forget(live->id);
  lives_.drop_ghost(live);
  shared_.schedule();
}

}  // namespace errand
