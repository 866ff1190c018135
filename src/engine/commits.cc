// Commits: handed to the store in groups; what follows from each once it is durable, or refused.
#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "engine/engine_impl.h"

namespace errand {

void EngineImpl::stage(Prepared&& prepared) {
  staged_.push_back(std::move(prepared));
  schedule();
}

void EngineImpl::hand_over() {
  if (staged_.empty()) return;
  auto group = std::make_shared<std::vector<Prepared>>(std::move(staged_));
  staged_.clear();
  // Lent to the store until it answers: then the events are needed again, for their frames.
  auto commits = std::make_shared<std::vector<Commit>>();
  commits->reserve(group->size());
  for (Prepared& prepared : *group) commits->push_back(std::move(prepared.commit));
  under_way_ += static_cast<int64_t>(group->size());
  parts_.store.commit(Store::Group(commits),
                      [this, alive = std::weak_ptr(alive_), group, commits](std::vector<Result<Committed>> results) {
                        if (alive.expired()) return;
                        ERRAND_CHECK(results.size() == group->size(), "the store answers every commit");
                        under_way_ -= static_cast<int64_t>(group->size());
                        for (size_t i = 0; i < group->size(); ++i) {
                          (*group)[i].commit = std::move((*commits)[i]);
                          committed(std::move((*group)[i]), std::move(results[i]));
                        }
                        feeds_.wake_all();
                        schedule();
                      });
}

void EngineImpl::committed(Prepared prepared, Result<Committed> result) {
  for (const TaskId& id : batches_.settle(prepared.batch_moves, result.has_value()))
    if (LivePtr held = find_live(id)) to_pump_.push_back(std::move(held));
  if (result) {
    ++commits_;
    events_ += static_cast<int64_t>(prepared.commit.events.size());
    if (prepared.live) applied(prepared, *result);
  } else if (prepared.live) {
    failed(prepared, result.error());
  }
  if (prepared.done) prepared.done(std::move(result));
}

void EngineImpl::applied(Prepared& prepared, const Committed& committed) {
  const LivePtr live = prepared.live;
  live->busy = false;
  live->retry_at = Time{};
  if (prepared.commit.remove) {
    live->removed = true;
    mark_made();
    quotas_.forget(live->id);
    slots_.remove(live->id);
    publish(prepared, committed);
    for (Action& action : std::exchange(live->inbox, {}))
      if (action.reply) action.reply(fail(Code::not_found, "The task was removed.", "deleted"));
    answer_actions(prepared);
    disarm_deadlines(*live);
    lives_.erase(live->id);
    ghosts_.emplace(live->id, live);
    perform(live, std::move(prepared.effects));
    if (!live->turn && !live->opening) ghost_gone(live);
    remove_stragglers(live->task->session_id);
    answer_waiters(live->id, Woken::gone);
    for (const BatchMove& move : prepared.batch_moves) check_batch_waiters(move.batch);
    return;
  }
  const bool was_working = live->task && at_work(live->task->state);
  const bool was_over = live->task && is_over(*live->task);
  const bool waited = live->task && live->task->wait && live->task->wait->kind == WaitKind::children;
  live->task = prepared.after;
  live->recorder = std::move(prepared.recorder);
  // More bodies than messages: some were let go.
  if (live->messages.size() > live->task->waiting.size()) {
    std::unordered_set<MessageId> waiting;
    for (const WaitingMessage& message : live->task->waiting) waiting.insert(message.id);
    std::erase_if(live->messages, [&](const auto& body) { return !waiting.contains(body.first); });
  }
  // What was just stored of a message is what a later `taken` starts from.
  for (const Message& message : prepared.commit.messages)
    if (const auto body = live->messages.find(message.id); body != live->messages.end()) body->second = message;
  publish(prepared, committed);
  settle_slot(*live);
  quotas_.settle(*live->task);
  arm_asks(live);
  spend(live);
  notices_taken(live, prepared.own_taken);
  reports_stored(live, prepared.actions);
  answer_actions(prepared);
  perform(live, std::move(prepared.effects));
  if (!at_work(live->task->state)) {
    if (live->task->phase == TurnPhase::ended) disarm_deadlines(*live);
    if (live->task->expires_at && (!next_expiry_ || live->task->expires_at < next_expiry_)) {
      next_expiry_ = live->task->expires_at;
      arm_retention();
    }
    if (!was_over && is_over(*live->task)) answer_waiters(live->id, Woken::came);
    if (was_working && live->task->state == TaskState::cancelled) cancel_children(live->task->session_id);
    const bool told = !live->task->waiting.empty();  // Of a completed task these are notices.
    if (was_working && live->task->state == TaskState::completed && told && settings_.wake) wake_task(live->id);
  }
  if (waited && !live->task->wait) deliver_notices(live);
  for (const BatchMove& move : prepared.batch_moves) check_batch_waiters(move.batch);
  for (const SessionId& session : prepared.told) wake_notice_waiters(session);
  const Launch& launch = live->task->launch;
  if (!launch.ancestors.empty() && std::ranges::find(prepared.told, launch.parent_session_id) != prepared.told.end())
    told_task(launch.ancestors.front());
  if (!live->inbox.empty()) to_pump_.push_back(live);
  evict(live);
}

// The store would not take it: callers are told, the engine's own actions wait for another try.
void EngineImpl::failed(Prepared& prepared, const Error& error) {
  const LivePtr live = prepared.live;
  live->busy = false;
  if (prepared.created) {
    slots_.release(live->id);
    lives_.erase(live->id);
    return;
  }
  log_warning("engine", "commit of " + live->id.value + " refused: " + error.message);
  // Somebody else has stored this task: all that waits is decided on what is there now, also what callers asked for.
  const bool stale = error.reason == "version";
  std::vector<Action> again;
  for (Action& action : prepared.actions) {
    if (action.reply && !stale)
      action.reply(std::unexpected(error));
    else if (!std::holds_alternative<input::Start>(action.input))  // It goes back in line.
      again.push_back(std::move(action));
  }
  std::ranges::move(live->inbox, std::back_inserter(again));
  live->inbox = std::move(again);
  settle_slot(*live);
  if (stale) {
    live->stale = true;
    return load(live);
  }
  live->retry_at = steady() + store_retry_ms;
  if (!live->inbox.empty()) to_pump_.push_back(live);
  evict(live);
}

void EngineImpl::answer_actions(Prepared& prepared) {
  for (size_t i = 0; i < prepared.actions.size(); ++i) {
    Action& action = prepared.actions[i];
    if (!action.reply) continue;
    if (prepared.refused[i])
      action.reply(std::unexpected(*prepared.refused[i]));
    else if (prepared.live->task)
      action.reply(prepared.live->task);
  }
}

void EngineImpl::publish(Prepared& prepared, const Committed& committed) {
  const TaskId& id = prepared.live->id;
  if (!prepared.commit.remove) return feeds_.publish(id, prepared.commit.events, prepared.texts, committed.first_pos);
  feeds_.publish_gone({.task_id = id,
                       .parent_session_id = prepared.live->task->launch.parent_session_id,
                       .why = *prepared.commit.remove,
                       .at = prepared.commit.now,
                       .pos = committed.first_pos});
}

}  // namespace errand
