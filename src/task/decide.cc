#include "task/decide.h"

#include <algorithm>

#include <fmt/format.h>

#include "task/json.h"
#include "task/move.h"

namespace errand {
namespace {

size_t count_untaken(const Task& task, bool notices) {
  return static_cast<size_t>(std::ranges::count_if(
      task.waiting, [&](const WaitingMessage& m) { return !m.taken && static_cast<bool>(m.notice) == notices; }));
}

// What the turn took longest ago is let go: it stays in the conversation, and a retry finds it there.
void let_old_go(std::vector<WaitingMessage>& waiting) {
  auto taken = static_cast<size_t>(std::ranges::count_if(waiting, &WaitingMessage::taken));
  if (taken <= waiting_max) return;
  std::erase_if(waiting, [&](const WaitingMessage& message) {
    if (!message.taken || taken <= waiting_max) return false;
    --taken;
    return true;
  });
}

}  // namespace

Status room_for_message(const Task& task) {
  if (task.waiting.size() < waiting_max || count_untaken(task, false) < waiting_max) return {};
  return fail(Code::exhausted,
              fmt::format("{} messages already wait for this task. Send more when it has read some, or put everything "
                          "into one message.",
                          waiting_max),
              too_many_messages);
}

namespace moves {

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

Result<Step> on(const Task& task, const input::Cancel& input, Time now) {
  if (!at_work(task.state))
    return conflict(fmt::format("The task is {} already; only a pending, running or resumed task can be cancelled.",
                                name(task.state)));
  Move move(task, now);
  move.rest(TaskState::cancelled, "cancelled_by_" + input.by);
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Prompt& input, Time now) {
  if (task.state == TaskState::failed || task.state == TaskState::cancelled)
    return conflict(fmt::format(
        "The task is {} and takes no messages; retry starts it again, with a message if you like.", name(task.state)));
  if (Status room = room_for_message(task); !room) return std::unexpected(room.error());
  Move move(task, now);
  Task& t = move.task();
  t.waiting.push_back({input.message, input.when, false});
  let_old_go(t.waiting);
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

Result<Step> on(const Task& task, const input::Noticed& input, Time now) {
  const bool known = std::ranges::any_of(task.waiting, [&](const auto& m) { return m.notice == input.notice; });
  const bool wakes = task.state == TaskState::completed && input.wake;
  if (!wakes && (known || !at_work(task.state))) return unchanged(task);
  const bool full = task.waiting.size() >= waiting_max && count_untaken(task, true) >= waiting_max;
  if (full && !wakes) return unchanged(task);
  Move move(task, now);
  Task& t = move.task();
  if (!known && !full) t.waiting.push_back({input.message, When::steer, false, input.notice});
  let_old_go(t.waiting);
  if (wakes) {
    t.resume_count += 1;
    move.queue_turn(TaskState::resumed);
    move.status();
  } else if (t.phase == TurnPhase::working && !t.stopping) {
    move.effect(effect::Send{input.message});
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

Result<Step> on(const Task& task, const input::Isolated& input, Time now) {
  if (task.isolation == input.isolation) return unchanged(task);
  Move move(task, now);
  move.task().isolation = input.isolation;
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::NoticeTaken& input, Time now) {
  Move move(task, now);
  move.task().updated_at = task.updated_at;
  move.event(notice_event(EventType::notice_taken, input.notice, now));
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Edit& input, Time now) {
  Move move(task, now);
  Task& t = move.task();
  if (input.title) t.title = shown_title(*input.title);
  if (t.title.empty())
    return fail(Code::invalid_argument, "A title needs a character that can be seen.", "invalid_title");
  t.renamed = t.title != title_of(t.launch);
  for (const auto& [label, value] : input.labels) {
    if (value)
      t.launch.labels.insert_or_assign(label, *value);
    else
      t.launch.labels.erase(label);
  }
  if (t.launch.labels.size() > labels_max)
    return fail(Code::invalid_argument, fmt::format("A task has at most {} labels; remove some first.", labels_max),
                "too_many_labels");
  if (input.pinned) t.pinned = *input.pinned;
  if (input.archived) t.archived = *input.archived;
  t.updated_at = task.updated_at;
  if (t == task) return unchanged(task);
  t.updated_at = now;
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Remove& input, Time now) {
  if (input.only_at_rest && at_work(task.state))
    return conflict(
        fmt::format("The task is {}; only a completed, failed or cancelled task can be cleared.", name(task.state)));
  Move move(task, now);
  if (task.phase == TurnPhase::working) move.effect(effect::Stop{task.run});
  move.removed();
  return std::move(move).done();
}

}  // namespace moves

Result<Step> decide(const Task& task, const Input& input, Time now) {
  Result<Step> step = std::visit([&](const auto& in) { return moves::on(task, in, now); }, input);
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
  if (first) task.waiting.push_back({std::move(first), WaitingMessage::When::steer, false});
  assert_task(task);
  Step step;
  step.events.push_back(task_event(EventType::task_created, task, now));
  step.after = std::move(task);
  return step;
}

std::vector<MessageId> messages_to_give(const Task& task, bool reattach) {
  std::vector<MessageId> out;
  for (const WaitingMessage& message : task.waiting)
    if (!message.taken && !(reattach && message.when == WaitingMessage::When::queue)) out.push_back(message.id);
  return out;
}

}  // namespace errand
