#include "task/decide.h"

#include <algorithm>

#include <fmt/format.h>

#include "task/json.h"

namespace errand {
namespace {

using When = WaitingMessage::When;

std::unexpected<Error> conflict(std::string message) { return fail(Code::conflict, std::move(message)); }

// Builds one step: a copy of the task that the moves change, and what follows from them.
class Move {
 public:
  Move(const Task& task, Time now) : now_(now) {
    step_.after = task;
    step_.after.updated_at = now;
  }

  Task& task() { return step_.after; }
  Time now() const { return now_; }
  void event(Event event) { step_.events.push_back(std::move(event)); }
  void effect(Effect effect) { step_.effects.push_back(std::move(effect)); }
  void status() { event(task_event(EventType::task_status, task(), now_)); }
  void turn_ended() { step_.turn_ended = true; }
  void asked() { step_.asked = true; }
  void removed() { step_.removed = true; }
  Step done() && { return std::move(step_); }

  // The turn begins, with a new run.
  void begin() {
    Task& t = task();
    t.phase = TurnPhase::working;
    t.run += 1;
    t.checkpoint.clear();
    t.stopping = t.interrupting = false;
    t.wait.reset();
    t.repeat = {};
    // What waited for this turn is now of this turn: also where it is taken up again before the agent took it.
    for (WaitingMessage& message : t.waiting) message.when = When::steer;
    if (t.state == TaskState::pending) t.state = TaskState::running;
    if (!t.started_at) t.started_at = now_;
    t.progress.last_update = now_;
    effect(effect::Open{});
    status();
  }

  // A further turn waits for a slot.
  void queue_turn(TaskState state) {
    Task& t = task();
    t.state = state;
    t.phase = TurnPhase::queued;
    t.turn += 1;
    t.restarts = 0;
    t.reason.clear();
    t.error.reset();
    t.queued_at = now_;
    t.completed_at = t.retrieved_at = t.expires_at = Time{};
    t.stopping = t.interrupting = false;
    t.wait.reset();
  }

  // Nobody will answer any more.
  void drop_asks() {
    for (const Ask& ask : task().asks)
      if (ask.decision.empty()) event(ask_answered_event(ask.request_id, "dropped", "errand", now_));
    task().asks.clear();
  }

  // At rest. While its processes live, the turn stays `working` and the task is `stopping`; `end` follows later.
  void rest(TaskState state, std::string reason) {
    Task& t = task();
    const bool stops = t.phase == TurnPhase::working && state != TaskState::completed && !gone_;
    t.state = state;
    t.reason = std::move(reason);
    t.completed_at = now_;
    if (t.launch.retention_ms > 0) t.expires_at = now_ + t.launch.retention_ms;
    t.interrupting = false;
    t.stopping = stops;
    t.wait.reset();
    drop_asks();
    if (stops) {
      effect(effect::Stop{t.run});
    } else {
      t.phase = TurnPhase::ended;
    }
    turn_ended();
    status();
    if (!stops) event(end_event(state, now_));
  }

  void fail_with(TaskError error) {
    std::string code = error.code;
    task().error = std::move(error);
    rest(TaskState::failed, std::move(code));
  }

  // The work of the run is gone: there is nothing to stop.
  void processes_gone() { gone_ = true; }

 private:
  Step step_;
  Time now_;
  bool gone_ = false;
};

Step unchanged(const Task& task) {
  Step step;
  step.after = task;
  step.unchanged = true;
  return step;
}

// Names a run that is not the task's own, or is not at work any more.
bool fenced(const Task& task, int run) { return run != task.run || task.phase != TurnPhase::working; }

Result<Step> on(const Task& task, const input::Start&, Time now) {
  if (task.phase != TurnPhase::queued) return unchanged(task);
  Move move(task, now);
  move.task().progress.turns += 1;
  move.begin();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Activity& input, Time now) {
  if (fenced(task, input.run)) return unchanged(task);
  Move move(task, now);
  move.task().progress.last_update = now;
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Taken& input, Time now) {
  if (fenced(task, input.run)) return unchanged(task);
  Move move(task, now);
  for (WaitingMessage& message : move.task().waiting)
    if (message.id == input.message && !message.taken) {
      message.taken = true;
      return std::move(move).done();
    }
  return unchanged(task);
}

// What a turn left waiting when it ended well: the messages of the next one.
std::vector<WaitingMessage> untaken(const Task& task) {
  std::vector<WaitingMessage> out;
  std::ranges::copy_if(task.waiting, std::back_inserter(out), [](const WaitingMessage& m) { return !m.taken; });
  return out;
}

TaskError interrupted(std::string text) { return {"interrupted", std::move(text), {}}; }

// The run is over and nothing of it is left. What follows depends on why it was stopped, if it was.
void after_run(Move& move, const input::TurnEnded& input) {
  Task& t = move.task();
  move.processes_gone();
  if (input.exit_code) t.exit_code = input.exit_code;
  if (input.signal) t.signal = input.signal;
  if (input.artifacts) t.progress.artifacts = *input.artifacts;
  if (!at_work(t.state)) {
    t.stopping = false;
    t.phase = TurnPhase::ended;
    move.status();
    move.event(end_event(t.state, move.now()));
    return;
  }
  if (t.stopping && t.interrupting) {
    t.waiting = untaken(t);
    t.turn += 1;
    t.restarts = 0;
    t.progress.turns += 1;
    move.drop_asks();
    move.begin();
    return;
  }
  if (t.stopping) {
    for (WaitingMessage& message : t.waiting) message.taken = false;
    move.drop_asks();
    move.begin();
    return;
  }
  switch (input.outcome) {
    case input::TurnEnded::Outcome::completed: {
      t.result = input.result.value_or("");
      std::vector<WaitingMessage> next = untaken(t);
      t.waiting = next;
      if (next.empty()) {
        move.rest(TaskState::completed, "finished");
        return;
      }
      move.drop_asks();
      move.turn_ended();
      t.resume_count += 1;
      move.queue_turn(TaskState::resumed);
      move.status();
      return;
    }
    case input::TurnEnded::Outcome::failed:
      if (input.result) t.result = input.result;
      move.fail_with(input.error.value_or(TaskError{"agent_error", "The agent failed and did not say why.", {}}));
      return;
    case input::TurnEnded::Outcome::stopped:
      if (input.result) t.result = input.result;
      move.fail_with(interrupted("Its work was stopped from outside errand; retry starts it again."));
      return;
  }
}

Result<Step> on(const Task& task, const input::TurnEnded& input, Time now) {
  if (fenced(task, input.run)) return unchanged(task);
  Move move(task, now);
  after_run(move, input);
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Lost& input, Time now) {
  if (fenced(task, input.run)) return unchanged(task);
  Move move(task, now);
  if (!at_work(task.state) || task.stopping) {
    after_run(move, {.run = input.run, .outcome = input::TurnEnded::Outcome::stopped});
  } else {
    move.processes_gone();
    move.fail_with(interrupted(input.text));
  }
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Cancel& input, Time now) {
  if (!at_work(task.state))
    return conflict(fmt::format("The task is {} already; only a pending, running or resumed task can be cancelled.",
                                name(task.state)));
  Move move(task, now);
  move.rest(TaskState::cancelled, "cancelled_by_" + input.by);
  return std::move(move).done();
}

int max_restarts(const Launch& launch) { return launch.max_restarts > 0 ? launch.max_restarts : max_restarts_default; }

Result<Step> on(const Task& task, const input::Deadline& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  // R1.10: while it waits, silence is not idleness (the question may have come just before the deadline).
  if (input.which != input::Deadline::Which::timeout && waits(task)) return unchanged(task);
  Move move(task, now);
  switch (input.which) {
    case input::Deadline::Which::timeout:
      move.fail_with({"timeout", input.text,
                      fmt::format(R"({{"limit":{},"seen":{}}})", static_cast<double>(task.launch.timeout_ms) / 1000,
                                  static_cast<double>(std::max<Millis>(now - task.started_at, 0)) / 1000)});
      break;
    case input::Deadline::Which::idle_warning:
      move.event(warning_event("idle", input.text, now));
      break;
    case input::Deadline::Which::idle:
      if (task.launch.on_hang == OnHang::restart && task.restarts < max_restarts(task.launch)) {
        move.task().restarts += 1;
        move.event(warning_event("restart",
                                 fmt::format("{} It is ended and begun again: restart {} of {}.", input.text,
                                             move.task().restarts, max_restarts(task.launch)),
                                 now));
        move.task().stopping = true;
        move.task().wait.reset();
        move.effect(effect::Stop{task.run});
        move.status();
      } else {
        const std::string before =
            task.restarts > 0 ? fmt::format(" It was begun again {} and hung each time.",
                                            task.restarts == 1 ? "once" : fmt::format("{} times", task.restarts))
                              : "";
        move.fail_with({"hung", input.text + before, {}});
      }
      break;
  }
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Prompt& input, Time now) {
  if (task.state == TaskState::failed || task.state == TaskState::cancelled)
    return conflict(fmt::format(
        "The task is {} and takes no messages; retry starts it again, with a message if you like.", name(task.state)));
  Move move(task, now);
  Task& t = move.task();
  t.waiting.push_back({input.message, input.when, false});
  if (t.state == TaskState::completed) {
    t.resume_count += 1;
    move.queue_turn(TaskState::resumed);
    move.status();
  } else if (t.phase == TurnPhase::working && !t.stopping) {
    if (input.when == When::steer) move.effect(effect::Send{input.message});
    if (input.when == When::interrupt) {
      t.stopping = t.interrupting = true;
      t.wait.reset();
      move.drop_asks();
      move.effect(effect::Stop{t.run});
      move.status();
    }
  }
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Retry& input, Time now) {
  if (task.state != TaskState::failed && task.state != TaskState::cancelled)
    return conflict(fmt::format("The task is {}; only a failed or cancelled task can be retried{}.", name(task.state),
                                task.state == TaskState::completed ? " (a message resumes a completed one)" : ""));
  if (task.stopping) return conflict("The processes of the last attempt are still being stopped; retry in a moment.");
  Move move(task, now);
  Task& t = move.task();
  for (WaitingMessage& message : t.waiting) message.taken = false;
  if (input.message) t.waiting.push_back({*input.message, When::steer, false});
  move.queue_turn(TaskState::pending);
  t.attempt += 1;
  std::vector<int>& ends = t.progress.attempt_ends;
  ends.push_back(t.run);
  if (ends.size() > attempt_ends_max) ends.erase(ends.begin());
  t.progress.artifacts = {};
  t.result.reset();
  t.exit_code.reset();
  t.signal.reset();
  t.started_at = Time{};
  t.progress.output_bytes = t.progress.output_lines = t.progress.memory_bytes = 0;
  t.progress.cpu_s = 0;
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Asked& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  for (const Ask& known : task.asks)
    if (known.request_id == input.ask.request_id) {
      // Asked again, after a restart: an answer that was given is given once more.
      Step again = unchanged(task);
      if (!known.decision.empty())
        again.effects.push_back(effect::Answer{known.request_id, known.decision, known.reply});
      return again;
    }
  Move move(task, now);
  move.event(ask_created_event(input.ask, now));
  const Permission rule = task.launch.permission.value_or(Permission::ask);
  if (input.ask.kind == AskKind::permission && rule != Permission::ask) {
    const std::string decision(rule == Permission::allow ? "allow" : "deny");
    move.event(ask_answered_event(input.ask.request_id, decision, "policy", now));
    move.task().asks.push_back(input.ask);
    move.task().asks.back().decision = decision;
    move.effect(effect::Answer{input.ask.request_id, decision, {}});
    return std::move(move).done();
  }
  move.task().asks.push_back(input.ask);
  move.asked();
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Answered& input, Time now) {
  const auto ask = std::ranges::find(task.asks, input.request_id, &Ask::request_id);
  if (ask == task.asks.end() || !ask->decision.empty())
    return fail(Code::not_found, fmt::format("The task has no open question \"{}\"; it was answered, or never asked.",
                                             input.request_id));
  const bool decides = input.decision == "allow" || input.decision == "allow_always" || input.decision == "deny";
  if (ask->kind == AskKind::permission && !decides)
    return fail(Code::invalid_argument, "This is a permission request: decide allow, allow_always or deny.");
  if (ask->kind == AskKind::answer && input.decision != "answer")
    return fail(Code::invalid_argument, "This is a question: give an answer, not a decision.");
  Move move(task, now);
  Ask& answered = *std::ranges::find(move.task().asks, input.request_id, &Ask::request_id);
  answered.decision = input.decision;
  answered.reply = input.message;
  move.task().progress.last_update = now;
  move.event(ask_answered_event(input.request_id, input.decision, input.by, now));
  move.effect(effect::Answer{input.request_id, input.decision, input.message});
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Retrieved&, Time now) {
  if (at_work(task.state) || task.retrieved_at) return unchanged(task);
  Move move(task, now);
  move.task().updated_at = task.updated_at;  // Reading is not a change of the task.
  move.task().retrieved_at = now;
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::ProgressDue& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  Move move(task, now);
  move.event(progress_event(task, now));
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Waits& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping || task.wait == input.wait)
    return unchanged(task);
  Move move(task, now);
  move.task().wait = input.wait;
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::GoesOn& input, Time now) {
  if (fenced(task, input.run) || !task.wait) return unchanged(task);
  Move move(task, now);
  move.task().wait.reset();
  move.task().progress.last_update = now;
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Overrun& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  Move move(task, now);
  move.fail_with(input.error);
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Noticed& input, Time now) {
  const bool known = std::ranges::any_of(task.waiting, [&](const auto& m) { return m.notice == input.notice; });
  const bool wakes = task.state == TaskState::completed && input.wake;
  if (known || (!at_work(task.state) && !wakes)) return unchanged(task);
  Move move(task, now);
  Task& t = move.task();
  t.waiting.push_back({input.message, When::steer, false, input.notice});
  if (wakes) {
    t.resume_count += 1;
    move.queue_turn(TaskState::resumed);
    move.status();
  } else if (t.phase == TurnPhase::working && !t.stopping) {
    move.effect(effect::Send{input.message});
  }
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::NoticeTaken& input, Time now) {
  Move move(task, now);
  move.task().updated_at = task.updated_at;
  move.event(notice_event(EventType::notice_taken, input.notice, now));
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Remove& input, Time now) {
  if (input.only_at_rest && at_work(task.state))
    return conflict(fmt::format("The task is {}; only a task at rest can be cleared.", name(task.state)));
  Move move(task, now);
  if (task.phase == TurnPhase::working) move.effect(effect::Stop{task.run});
  move.removed();
  return std::move(move).done();
}

}  // namespace

Result<Step> decide(const Task& task, const Input& input, Time now) {
  Result<Step> step = std::visit([&](const auto& in) { return on(task, in, now); }, input);
  if (step && !step->removed) assert_task(step->after);
  return step;
}

Step create(Launch launch, TaskId id, SessionId session, MessageId first, Time now) {
  Task task;
  task.id = std::move(id);
  task.title = title_of(launch);
  task.session_id = std::move(session);
  task.created_at = task.queued_at = task.updated_at = now;
  task.progress.last_update = now;
  task.is_forked = launch.fork;
  task.launch = std::move(launch);
  if (first) task.waiting.push_back({std::move(first), When::steer, false});
  assert_task(task);
  Step step;
  step.events.push_back(task_event(EventType::task_created, task, now));
  step.after = std::move(task);
  return step;
}

std::vector<MessageId> messages_to_give(const Task& task, bool reattach) {
  std::vector<MessageId> out;
  for (const WaitingMessage& message : task.waiting)
    if (!message.taken && !(reattach && message.when == When::queue)) out.push_back(message.id);
  return out;
}

}  // namespace errand
