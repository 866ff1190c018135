// One step of decide, while it is made. Inside task/ only: decide.cc, decide_run.cc, decide_asks.cc.
#pragma once

#include <string>
#include <utility>

#include "task/decide.h"
#include "task/json.h"

namespace errand::moves {

using When = WaitingMessage::When;

inline std::unexpected<Error> conflict(std::string message) { return fail(Code::conflict, std::move(message)); }

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
    // Of the turns from one queue to the next: engine/deadlines.cc counts the same time.
    if (!t.deadline_at && t.launch.timeout_ms > 0) t.deadline_at = now_ + t.launch.timeout_ms;
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
    t.completed_at = t.retrieved_at = t.expires_at = t.deadline_at = Time{};
    t.stopping = t.interrupting = false;
    t.wait.reset();
  }

  // Nobody will answer any more.
  void drop_asks() {
    for (const Ask& ask : task().asks)
      if (ask.decision.empty()) {
        Ask dropped = ask;
        dropped.decision = "dropped";
        event(ask_answered_event(dropped, "errand", now_));
      }
    task().asks.clear();
  }

  // At rest. While its processes live, the turn stays `working` and the task is `stopping`; `over` follows later.
  void rest(TaskState state, std::string reason) {
    Task& t = task();
    const bool stops = t.phase == TurnPhase::working && state != TaskState::completed && !gone_;
    t.state = state;
    t.reason = std::move(reason);
    t.completed_at = now_;
    t.deadline_at = Time{};
    t.interrupting = false;
    t.stopping = stops;
    t.wait.reset();
    drop_asks();
    if (!stops) return over();
    effect(effect::Stop{t.run});
    status();
  }

  // It rests, and nothing of its turn is left: only now is it known what the turn left behind, which its notice tells.
  void over() {
    Task& t = task();
    t.stopping = false;
    t.phase = TurnPhase::ended;
    // Not before its notice is made: what retention removes, somebody was told of.
    if (t.launch.retention_ms > 0) t.expires_at = t.completed_at + t.launch.retention_ms;
    turn_ended();
    status();
    event(end_event(t.state, now_));
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

inline Step unchanged(const Task& task) {
  Step step;
  step.after = task;
  step.unchanged = true;
  return step;
}

// Names a run that is not the task's own, or is not at work any more.
inline bool fenced(const Task& task, int run) { return run != task.run || task.phase != TurnPhase::working; }

// --- decide_run.cc: a run begins, shows life, waits, ends
Result<Step> on(const Task& task, const input::Start& input, Time now);
Result<Step> on(const Task& task, const input::Activity& input, Time now);
Result<Step> on(const Task& task, const input::TurnEnded& input, Time now);
Result<Step> on(const Task& task, const input::Lost& input, Time now);
Result<Step> on(const Task& task, const input::Deadline& input, Time now);
Result<Step> on(const Task& task, const input::Overrun& input, Time now);
Result<Step> on(const Task& task, const input::Waits& input, Time now);
Result<Step> on(const Task& task, const input::GoesOn& input, Time now);

// --- decide_asks.cc: questions, permissions and their answers
Result<Step> on(const Task& task, const input::Asked& input, Time now);
Result<Step> on(const Task& task, const input::Answered& input, Time now);
Result<Step> on(const Task& task, const input::AskDue& input, Time now);

// --- decide.cc: what callers ask for
Result<Step> on(const Task& task, const input::Taken& input, Time now);
Result<Step> on(const Task& task, const input::Prompt& input, Time now);
Result<Step> on(const Task& task, const input::Noticed& input, Time now);
Result<Step> on(const Task& task, const input::Cancel& input, Time now);
Result<Step> on(const Task& task, const input::Retry& input, Time now);
Result<Step> on(const Task& task, const input::Retrieved& input, Time now);
Result<Step> on(const Task& task, const input::ProgressDue& input, Time now);
Result<Step> on(const Task& task, const input::Isolated& input, Time now);
Result<Step> on(const Task& task, const input::NoticeTaken& input, Time now);
Result<Step> on(const Task& task, const input::Edit& input, Time now);
Result<Step> on(const Task& task, const input::Remove& input, Time now);

}  // namespace errand::moves
