#include "store/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "store/search_text.h"

namespace errand {
namespace {

Error refuse(Code code, std::string message, std::string reason = {}) {
  return {code, std::move(message), std::move(reason)};
}

std::string_view sentence(Gone why) {
  switch (why) {
    case Gone::deleted:
      return "was deleted";
    case Gone::cleared:
      return "was cleared";
    case Gone::expired:
      return "has expired: its retention time is over";
    case Gone::session_ended:
      return "was removed when its parent session ended";
  }
  return "is gone";
}

}  // namespace

std::string_view name(Gone why) {
  switch (why) {
    case Gone::deleted:
      return "deleted";
    case Gone::cleared:
      return "cleared";
    case Gone::expired:
      return "expired";
    case Gone::session_ended:
      return "session_ended";
  }
  return "deleted";
}

std::string_view name(StoreState state) {
  switch (state) {
    case StoreState::well:
      return "ok";
    case StoreState::full:
      return "full";
    case StoreState::unlinked:
      return "unlinked";
    case StoreState::damaged:
      return "damaged";
    case StoreState::away:
      return "away";
    case StoreState::taken:
      return "taken";
  }
  return "ok";
}

Status check_commit(const Commit& commit) {
  const auto wrong = [](const char* what) { return fail(Code::invalid_argument, what); };
  if (commit.task_id.empty()) {
    if (commit.after || commit.remove || !commit.events.empty())
      return wrong("A commit with a task, a removal or events names its task.");
    return {};
  }
  if (commit.after && commit.remove) return wrong("A commit stores a task or removes it, not both.");
  if (!commit.after && !commit.remove) return wrong("A commit that names a task stores it or removes it.");
  if (commit.remove) {
    if (!commit.events.empty()) return wrong("A task that goes has no more events.");
    if (commit.before_version < 1) return wrong("A removal names the version that it removes.");
    return {};
  }
  if (commit.after->id != commit.task_id) return wrong("A commit stores the task that it names.");
  if (commit.before_version < 0 || commit.after->version != commit.before_version + 1)
    return wrong("A task's version goes up by one with each commit.");
  int64_t seq = commit.after->last_seq - static_cast<int64_t>(commit.events.size());
  for (const Event& event : commit.events) {
    if (event.task_id != commit.task_id) return wrong("A commit has events of its own task only.");
    if (event.seq != ++seq) return wrong("A task's events are numbered without gaps, up to its last_seq.");
  }
  return {};
}

Status check_events(const Commit& commit, int64_t last_seq) {
  if (!commit.after) return {};
  if (commit.after->last_seq - static_cast<int64_t>(commit.events.size()) == last_seq) return {};
  return fail(Code::invalid_argument,
              fmt::format("The events of {} go on after {}, not after {}.", commit.task_id.value, last_seq,
                          commit.after->last_seq - static_cast<int64_t>(commit.events.size())));
}

Status check_page(const Page& page) {
  if (page.limit < 1 || page.limit > 500) return fail(Code::invalid_argument, "limit is from 1 to 500.");
  if (page.offset < 0) return fail(Code::invalid_argument, "offset is 0 or more.");
  if (page.offset > 0 && !page.cursor.empty())
    return fail(Code::invalid_argument, "A page has a cursor or an offset, not both.");
  return {};
}

Error version_conflict(const TaskId& id, int64_t stored, int64_t expected) {
  return refuse(
      Code::conflict,
      fmt::format("{} has changed meanwhile (version {}, not {}): read it again.", id.value, stored, expected),
      "version");
}

Error already_there(const TaskId& id) {
  return refuse(Code::conflict, fmt::format("There is a task {} already.", id.value), "version");
}

Error unknown_task(const TaskId& id, const Tombstone* tombstone) {
  if (!tombstone) return refuse(Code::not_found, fmt::format("There is no task {}.", id.value));
  return refuse(Code::not_found, fmt::format("Task {} {}.", id.value, sentence(tombstone->why)),
                std::string(name(tombstone->why)));
}

Error unknown_session(const SessionId& id) {
  return refuse(Code::not_found, fmt::format("There is no session {}.", id.value));
}

Error unknown_message(const MessageId& id) {
  return refuse(Code::not_found, fmt::format("There is no message {}.", id.value));
}

Error unknown_notice(const NoticeId& id) {
  return refuse(Code::not_found, fmt::format("There is no notice {}.", id.value));
}

Error known_key(const std::string& key) {
  return refuse(Code::conflict, fmt::format("The Idempotency-Key {} was used before.", key), "idempotency_key");
}

Error out_of_order(const Message& message, int64_t next) {
  return refuse(Code::invalid_argument, fmt::format("Message {} has the number {}, and the next of its session is {}.",
                                                    message.id.value, message.seq, next));
}

Error other_session(const Message& message) {
  return refuse(Code::invalid_argument, fmt::format("Message {} belongs to another session.", message.id.value));
}

Error history_gone() {
  return refuse(Code::not_found,
                "The events before this position were removed: read the tasks again and continue from there.", "reset");
}

namespace {

// Its `waiting_for` is of one of the kinds: an open question comes before what else it waits for.
bool waits_as(const Task& task, const TaskFilter& filter) {
  if (const Ask* const ask = open_ask(task)) return std::ranges::find(filter.asks, ask->kind) != filter.asks.end();
  return task.wait && std::ranges::find(filter.waits, task.wait->kind) != filter.waits.end();
}

}  // namespace

bool passes(const Task& task, const TaskFilter& filter, const std::vector<std::string>& terms) {
  if (!filter.states.empty() && std::ranges::find(filter.states, task.state) == filter.states.end()) return false;
  if (!filter.agent_id.empty() && task.launch.agent_id != filter.agent_id) return false;
  if (filter.kind && task.launch.kind != *filter.kind) return false;
  if (!filter.batch_id.empty() && task.launch.batch_id != filter.batch_id) return false;
  if (!filter.parent_session_id.empty() && task.launch.parent_session_id != filter.parent_session_id) return false;
  if (!filter.label_key.empty()) {
    const auto label = task.launch.labels.find(filter.label_key);
    if (label == task.launch.labels.end() || label->second != filter.label_value) return false;
  }
  if (filter.created_after && task.created_at <= filter.created_after) return false;
  if (filter.created_before && task.created_at >= filter.created_before) return false;
  if ((!filter.asks.empty() || !filter.waits.empty()) && !waits_as(task, filter)) return false;
  if (filter.archived && task.archived != *filter.archived) return false;
  if (filter.pinned && task.pinned != *filter.pinned) return false;
  if (filter.unseen && (task.state != TaskState::failed || task.retrieved_at)) return false;
  return found_in(task, terms);
}

EventRange events_of(const Message& message, const Commit& commit, int64_t seq_before) {
  EventRange range{seq_before, 0};
  for (const Event& event : commit.events) {
    if (event.type != EventType::message_created && event.type != EventType::message_completed) continue;
    if (event.data.find(message.id.value) == std::string::npos) continue;
    (event.type == EventType::message_created ? range.after : range.until) = event.seq;
  }
  if (message.completed_at && range.until == 0 && commit.after) range.until = commit.after->last_seq;
  return range;
}

bool is_unfinished(const Message& message) {
  const auto bare = [](const Part& part) { return part.text.empty() && part.call_id.empty(); };
  return message.role == Role::assistant && (!message.completed_at || message.interrupted) &&
         std::ranges::all_of(message.parts, bare);
}

std::vector<Part> take_opaque(Message& message) { return std::exchange(message.parts, {}); }

void put_opaque(Message& message, std::vector<Part> kept) {
  for (size_t i = 0; i < std::min(kept.size(), message.parts.size()); ++i)
    message.parts[i].opaque = std::move(kept[i].opaque);
}

QueuedTask queued_task(const Task& task) {
  return {task.id,
          task.launch.agent_id,
          task.launch.model,
          task.launch.batch_id,
          task.launch.priority,
          task.queued_at,
          task.launch.authorize_over_limit};
}

}  // namespace errand
