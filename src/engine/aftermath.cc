#include "engine/aftermath.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace errand {

void Aftermath::stored(Prepared& prepared, const Committed& committed) {
  if (prepared.commit.remove) return removed(prepared, committed);
  const LivePtr live = prepared.live;
  const TaskPtr before = live->task;
  replace_task(*live, prepared);
  const Task& task = *live->task;
  rooms_.feeds.publish(live->id, prepared.commit.events, prepared.texts, committed.first_pos);
  rooms_.starts.settle(*live);
  rooms_.quotas.settle(task);
  rooms_.deadlines.arm_asks(live);
  rooms_.deadlines.spend(live);
  rooms_.own_notices.taken(live, prepared.own_taken);
  rooms_.reports.stored(live, prepared.actions);
  answer_actions(prepared);
  rooms_.turns.perform(live, std::move(prepared.effects));
  if (!at_work(task.state)) came_to_rest(live, before.get());
  const bool waited = before && before->wait && before->wait->kind == WaitKind::children;
  if (waited && !task.wait) rooms_.own_notices.deliver(live);
  for (const BatchMove& move : prepared.batch_moves) rooms_.batch_calls.wake(move.batch);
  for (const SessionId& session : prepared.told) rooms_.session_calls.wake(session);
  const Launch& launch = task.launch;
  if (!launch.ancestors.empty() && std::ranges::find(prepared.told, launch.parent_session_id) != prepared.told.end())
    rooms_.own_notices.told(launch.ancestors.front());
}

void Aftermath::replace_task(Live& live, Prepared& prepared) {
  live.task = prepared.after;
  live.recorder = std::move(prepared.recorder);
  // More bodies than messages: some were let go.
  if (live.messages.size() > live.task->waiting.size()) {
    std::unordered_set<MessageId> waiting;
    for (const WaitingMessage& message : live.task->waiting) waiting.insert(message.id);
    std::erase_if(live.messages, [&](const auto& body) { return !waiting.contains(body.first); });
  }
  // What was just stored of a message is what a later `taken` starts from.
  for (const Message& message : prepared.commit.messages)
    if (const auto body = live.messages.find(message.id); body != live.messages.end()) body->second = message;
}

// It is at rest; maybe it was before.
void Aftermath::came_to_rest(const LivePtr& live, const Task* before) {
  const Task& task = *live->task;
  const bool was_working = before != nullptr && at_work(before->state);
  const bool was_over = before != nullptr && is_over(*before);
  if (task.phase == TurnPhase::ended) rooms_.deadlines.disarm(*live);
  rooms_.retention.expires(task.expires_at);
  if (!was_over && is_over(task)) rooms_.task_waits.wake(live->id, Woken::came);
  if (was_working && task.state == TaskState::cancelled) rooms_.subtree.cancel_children(task.session_id);
  const bool told = !task.waiting.empty();  // Of a completed task these are notices.
  if (was_working && task.state == TaskState::completed && told && rooms_.shared.settings.wake)
    rooms_.own_notices.wake(live->id);
}

void Aftermath::removed(Prepared& prepared, const Committed& committed) {
  const LivePtr live = prepared.live;
  live->removed = true;
  rooms_.retention.mark_made();
  rooms_.quotas.forget(live->id);
  rooms_.slots.remove(live->id);
  rooms_.feeds.publish_gone({.task_id = live->id,
                             .parent_session_id = live->task->launch.parent_session_id,
                             .why = *prepared.commit.remove,
                             .at = prepared.commit.now,
                             .pos = committed.first_pos});
  for (Action& action : std::exchange(live->inbox, {}))
    if (action.reply) action.reply(fail(Code::not_found, "The task was removed.", "deleted"));
  answer_actions(prepared);
  rooms_.deadlines.disarm(*live);
  rooms_.lives.make_ghost(live);
  rooms_.turns.perform(live, std::move(prepared.effects));
  if (!live->turn && !live->opening) rooms_.turns.ghost_gone(live);
  rooms_.removal.remove_stragglers(live->task->session_id);
  rooms_.task_waits.wake(live->id, Woken::gone);
  for (const BatchMove& move : prepared.batch_moves) rooms_.batch_calls.wake(move.batch);
}

void Aftermath::unchanged(Prepared& prepared) {
  rooms_.reports.stored(prepared.live, prepared.actions);
  answer_actions(prepared);
  rooms_.turns.perform(prepared.live, std::move(prepared.effects));
}

void Aftermath::reloaded(const LivePtr& live) {
  rooms_.starts.settle(*live);
  rooms_.quotas.settle(*live->task);
  const bool working = live->task->phase == TurnPhase::working;
  if (live->turn && (!working || live->task->run != live->sink->run())) rooms_.turns.stop(live);
}

void Aftermath::vanished(const LivePtr& live) {
  rooms_.deadlines.disarm(*live);
  rooms_.turns.stop(live);
}

void Aftermath::answer_actions(Prepared& prepared) {
  for (size_t i = 0; i < prepared.actions.size(); ++i) {
    Action& action = prepared.actions[i];
    if (!action.reply) continue;
    if (prepared.refused[i])
      action.reply(std::unexpected(*prepared.refused[i]));
    else if (prepared.live->task)
      action.reply(prepared.live->task);
  }
}

}  // namespace errand
