// A run of a task: how it begins, waits and ends, and what follows.
#include <algorithm>

#include <fmt/format.h>

#include "task/move.h"

namespace errand::moves {
namespace {

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
    // R1.5, R1.6: it was ended (cancelled, hung, over its budget), and what it had until then is kept.
    if (input.result) t.result = input.result;
    if (input.error && t.error && t.error->details.empty()) t.error->details = input.error->details;
    move.over();
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
      // A notice alone makes no turn: it is kept for the next one.
      if (std::ranges::all_of(next, [](const WaitingMessage& m) { return static_cast<bool>(m.notice); })) {
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
      move.fail_with(interrupted("Something outside errand stopped it. Retry starts it again."));
      return;
  }
}

int max_restarts(const Launch& launch) { return launch.max_restarts > 0 ? launch.max_restarts : max_restarts_default; }

}  // namespace

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

Result<Step> on(const Task& task, const input::Overrun& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  Move move(task, now);
  move.fail_with(input.error);
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Waits& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  // Said anew (after a restart, or with another time), it is the same wait.
  Wait wait = input.wait;
  wait.since = task.wait && task.wait->kind == wait.kind ? task.wait->since : now;
  if (task.wait == wait) return unchanged(task);
  Move move(task, now);
  move.task().wait = std::move(wait);
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

}  // namespace errand::moves
