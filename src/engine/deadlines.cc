#include "engine/deadlines.h"

#include <algorithm>

#include <fmt/format.h>

namespace errand {
namespace {

constexpr Millis command_slack_ms = 30'000;

// The driver is asked this often whether a silent turn does anything: what it did before it was last asked is told from
// what it does now.
Millis probe_every(Millis limit) { return std::max<Millis>(limit / 8, 1); }
// And once more, this long before something follows from its silence.
Millis probe_before(Millis limit) { return std::clamp<Millis>(limit / 16, 1, 1'000); }

}  // namespace

void Deadlines::disarm(Live& live) {
  for (Timers::Key* key : {&live.timeout_timer, &live.idle_timer, &live.progress_timer, &live.stop_timer,
                           &live.ask_timer, &live.budget_timer})
    shared_.timers.cancel(std::exchange(*key, 0));
}

void Deadlines::arm(const LivePtr& live, bool reattached) {
  disarm(*live);
  const Task& task = *live->task;
  const Launch& launch = task.launch;
  const int run = task.run;
  live->last_sign = live->looked = shared_.steady();
  live->warned = false;
  live->seen.clear();
  if (launch.timeout_ms > 0) {
    // A command's own deadline is the supervisor's, whose end says more: the signal, the last lines, what was left.
    // This one is for a supervisor that does not answer, and for a run that was begun again: that one counts anew.
    const Millis slack = launch.kind == TaskKind::command && task.restarts == 0 ? command_slack_ms : 0;
    live->timeout_timer = shared_.timers.add(time_left(*live, reattached) + slack, [this, live, run, launch] {
      live->timeout_timer = 0;
      lives_.submit(live, {.input = input::Deadline{
                               run, input::Deadline::Which::timeout,
                               fmt::format("It was ended after its timeout of {}; set {} to give "
                                           "it longer.",
                                           format_duration(launch.timeout_ms), timeout_option(launch.surface))}});
    });
  }
  if (launch.idle_timeout_ms > 0) arm_idle(live);
  arm_progress(live);
  arm_asks(live);
  arm_budget(live);
  shared_.schedule();
}

void Deadlines::arm_asks(const LivePtr& live) {
  shared_.timers.cancel(std::exchange(live->ask_timer, 0));
  const Ask* next = nullptr;
  for (const Ask& ask : live->task->asks)
    if (ask.decision.empty() && ask.until && (next == nullptr || ask.until < next->until)) next = &ask;
  if (next == nullptr) return;
  live->ask_timer =
      shared_.timers.add(std::max<Millis>(next->until - shared_.wall(), 0), [this, live, id = next->request_id] {
        live->ask_timer = 0;
        if (live->removed) return;
        lives_.submit(live, {.input = input::AskDue{id}});
      });
  shared_.schedule();
}

// Of the timeout: the wall time of the whole task, also over restarts of its turn and of the server; a follow-up has a
// clock of its own. What began under this server is counted by the steady clock.
Millis Deadlines::time_left(Live& live, bool reattached) {
  const Task& task = *live.task;
  const Millis timeout = task.launch.timeout_ms;
  if (live.began.attempt != task.attempt || live.began.resume_count != task.resume_count) {
    live.began = {task.attempt, task.resume_count, shared_.steady()};
    // Begun under an earlier server. A command's deadline is the supervisor's, which knows better than two readings of
    // a clock that may have been set between them; another's is the difference of the two.
    if (reattached && task.launch.kind != TaskKind::command && task.resume_count == 0)
      live.began.at = shared_.steady() - std::clamp<Millis>(shared_.wall() - task.started_at, 0, timeout);
  }
  return std::max<Millis>(live.began.at + timeout - shared_.steady(), 0);
}

void Deadlines::arm_idle(const LivePtr& live) {
  const int run = live->task->run;
  const Millis limit = live->task->launch.idle_timeout_ms;
  const Time due = live->last_sign + (live->warned ? limit : limit / 2);
  const Time last_probe = due - probe_before(limit);
  const Time now = shared_.steady();
  const Time next = now < last_probe ? std::min(now + probe_every(limit), last_probe) : due;
  live->idle_timer = shared_.timers.add(std::max<Millis>(next - now, 1), [this, live, run] {
    live->idle_timer = 0;
    idle_due(live, run);
  });
}

// Half of the idle limit without a sign of life is a warning; all of it, a hang.
void Deadlines::idle_due(const LivePtr& live, int run) {
  if (live->removed || !live->task || live->task->run != run || live->task->phase != TurnPhase::working || !live->turn)
    return;
  const Millis limit = live->task->launch.idle_timeout_ms;
  // It waits for somebody or something: its clock stands still.
  if (waits(*live->task)) live->last_sign = shared_.steady();
  // Nobody could see what it did since it was last asked.
  const Time looked = std::exchange(live->looked, shared_.steady());
  if (live->turn->unseen()) live->last_sign = live->last_sign + (shared_.steady() - std::max(looked, live->last_sign));
  const Millis silent = shared_.steady() - live->last_sign;
  if (silent < (live->warned ? limit : limit / 2)) {
    live->turn->probe();
    return arm_idle(live);
  }
  std::string seen = fmt::format("No event, no output, no CPU use and no I/O for {}", format_duration(silent));
  if (!live->seen.empty()) seen += ": " + live->seen;
  seen += '.';
  if (live->warned) {
    lives_.submit(live, {.input = input::Deadline{run, input::Deadline::Which::idle, std::move(seen)}});
    // Where nothing comes of it, because a question was under way: it is watched again.
    live->last_sign = shared_.steady();
    live->warned = false;
    return arm_idle(live);
  }
  live->warned = true;
  seen += fmt::format(" After {} it counts as hung.", format_duration(limit));
  lives_.submit(live, {.input = input::Deadline{run, input::Deadline::Which::idle_warning, std::move(seen)}});
  arm_idle(live);
}

void Deadlines::arm_progress(const LivePtr& live) {
  const Millis every = live->task->launch.progress_every_ms;
  if (every <= 0 || !live->turn) return;
  const int run = live->task->run;
  live->progress_timer = shared_.timers.add(every, [this, live, run] {
    live->progress_timer = 0;
    if (live->removed || live->task->run != run || !live->turn) return;
    lives_.submit(live, {.input = input::ProgressDue{run}});
    arm_progress(live);
  });
}

void Deadlines::spend(const LivePtr& live, bool begins) {
  const Task& task = *live->task;
  std::optional<TaskError> over = purses_.spend(task, begins);
  if (!over || live->overspent_run == task.run) return;
  live->overspent_run = task.run;
  lives_.submit(live, {.input = input::Overrun{task.run, std::move(*over)}});
}

void Deadlines::arm_budget(const LivePtr& live) {
  const std::optional<Purses::WallTime> time = purses_.wall_time(*live->task, shared_.wall());
  if (!time) return;
  live->budget_timer = shared_.timers.add(std::max<Millis>(time->left, 0), [this, live, run = live->task->run,
                                                                            limit = time->limit] {
    live->budget_timer = 0;
    lives_.submit(
        live, {.input = input::Overrun{
                   run,
                   {"budget", fmt::format("It was ended when its time budget of {} was over.", format_duration(limit)),
                    fmt::format(R"({{"budget":"wall_s","limit":{}}})", static_cast<double>(limit) / 1000)}}});
  });
}

}  // namespace errand
