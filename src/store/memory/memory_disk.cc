#include "store/memory/memory_disk.h"

#include "task/json_in.h"

namespace errand {

MemoryDisk::TaskRow* MemoryDisk::find(const TaskId& id) {
  const auto number = numbers.find(id);
  return number == numbers.end() ? nullptr : &tasks.at(number->second);
}

Error MemoryDisk::unknown(const TaskId& id) const {
  const auto tombstone = tombstones.find(id);
  return unknown_task(id, tombstone == tombstones.end() ? nullptr : &tombstone->second);
}

Message MemoryDisk::shown(const MessageRow& row) const {
  Message message = row.message;
  if (!is_unfinished(message)) return message;
  const auto session = sessions.find(message.session_id);
  if (session == sessions.end()) return message;
  const auto number = numbers.find(session->second.session.task_id);
  if (number == numbers.end()) return message;
  std::vector<Part> kept = take_opaque(message);
  for (const Event& event : tasks.at(number->second).events)
    if (event.seq > row.events.after && (row.events.until == 0 || event.seq <= row.events.until))
      apply_event(message, event);
  put_opaque(message, std::move(kept));
  return message;
}

Status MemoryDisk::check_messages(const Commit& commit) {
  std::unordered_map<SessionId, int64_t> last;
  std::unordered_map<MessageId, SessionId> fresh;
  for (const Message& message : commit.messages) {
    const auto session = sessions.find(message.session_id);
    const bool made_here = commit.session && commit.session->id == message.session_id;
    if (session == sessions.end() && !made_here) return std::unexpected(unknown_session(message.session_id));
    const auto known = messages.find(message.id);
    const auto made = fresh.find(message.id);
    if (known != messages.end() || made != fresh.end()) {
      const SessionId& owner = known != messages.end() ? known->second.message.session_id : made->second;
      if (owner != message.session_id) return std::unexpected(other_session(message));
      continue;
    }
    const auto [entry, first] = last.try_emplace(message.session_id, 0);
    if (first && session != sessions.end()) entry->second = session->second.session.last_message;
    const int64_t next = ++entry->second;
    if (message.seq != 0 && message.seq != next) return std::unexpected(out_of_order(message, next));
    fresh.emplace(message.id, message.session_id);
  }
  return {};
}

Status MemoryDisk::check(const Commit& commit) {
  if (const Status shape = check_commit(commit); !shape) return shape;
  if (!commit.task_id.empty()) {
    const TaskRow* row = find(commit.task_id);
    if (commit.before_version == 0) {
      if (row) return std::unexpected(already_there(commit.task_id));
      if (tombstones.contains(commit.task_id)) return std::unexpected(unknown(commit.task_id));
    } else {
      if (!row) return std::unexpected(unknown(commit.task_id));
      if (row->task.version != commit.before_version)
        return std::unexpected(version_conflict(commit.task_id, row->task.version, commit.before_version));
    }
    if (const Status events = check_events(commit, row ? row->task.last_seq : 0); !events) return events;
  }
  if (commit.key && keys.contains(commit.key->key)) return std::unexpected(known_key(commit.key->key));
  for (const Notice& notice : commit.notices)
    if (notices.contains(notice.id)) return fail(Code::conflict, "There is a notice " + notice.id.value + " already.");
  return check_messages(commit);
}

void MemoryDisk::remove_session(const SessionId& id) {
  const auto session = sessions.find(id);
  if (session != sessions.end()) {
    for (const MessageId& message : session->second.messages) messages.erase(message);
    sessions.erase(session);
  }
  if (id.empty()) return;
  std::erase_if(notices, [&](const auto& entry) { return entry.second.session_id == id; });
  const std::string own = session_setting_prefix(id);
  std::erase_if(settings, [&](const auto& entry) { return entry.first.starts_with(own); });
}

void MemoryDisk::remove_task(const Commit& commit, Committed& out) {
  const int64_t number = numbers.at(commit.task_id);
  const Task task = tasks.at(number).task;
  for (const Event& event : tasks.at(number).events) order.erase(event.pos);
  tasks.erase(number);
  numbers.erase(commit.task_id);
  remove_session(task.session_id);
  // Nobody is going to take these any more.
  std::erase_if(notices, [&](const auto& entry) {
    const Notice& notice = entry.second;
    return notice.task_id == commit.task_id && (notice.taken_at || notice.session_id.empty());
  });
  out.first_pos = ++last_pos;
  tombstones[commit.task_id] = {commit.task_id, task.launch.parent_session_id, *commit.remove, commit.now, last_pos};
  order[last_pos] = {commit.task_id, 0};
}

void MemoryDisk::forget(const Commit::Forget& what, Committed& out) {
  std::erase_if(usage, [&](const UsageRow& row) {
    if (row.at >= what.usage_before || out.usage_forgotten == what.rows) return false;
    ++out.usage_forgotten;
    return true;
  });
  std::map<int64_t, Tombstone> by_pos;
  for (const auto& [id, tombstone] : tombstones) by_pos.emplace(tombstone.pos, tombstone);
  for (const auto& [pos, tombstone] : by_pos) {
    const bool too_many = std::ssize(tombstones) > what.most;
    if ((tombstone.at >= what.before && !too_many) || out.forgotten == what.rows) {
      out.oldest_tombstone = tombstone.at;
      break;
    }
    std::erase_if(keys, [&](const auto& entry) { return entry.second.task_id == tombstone.task_id; });
    order.erase(pos);
    tombstones.erase(tombstone.task_id);
    forgotten_pos = pos;
    ++out.forgotten;
  }
}

void MemoryDisk::store_messages(const Commit& commit, int64_t seq_before, Committed& out) {
  for (const Message& message : commit.messages) {
    SessionRow& session = sessions.at(message.session_id);
    const EventRange events = events_of(message, commit, seq_before);
    const auto known = messages.find(message.id);
    if (known != messages.end()) {
      const int64_t seq = known->second.message.seq;
      known->second.message = message;
      known->second.message.seq = seq;
      known->second.events.until = events.until;
      out.message_seqs.push_back(seq);
      continue;
    }
    const int64_t seq = ++session.session.last_message;
    session.messages.push_back(message.id);
    MessageRow& row = messages.emplace(message.id, MessageRow{message, events}).first->second;
    row.message.seq = seq;
    out.message_seqs.push_back(seq);
  }
}

void MemoryDisk::store_notices(const Commit& commit, Committed& out) {
  for (const Notice& notice : commit.notices) {
    Notice& stored = notices.emplace(notice.id, notice).first->second;
    stored.seq = 0;
    if (!notice.session_id.empty()) {
      SessionRow& session = sessions[notice.session_id];
      if (session.session.id.empty()) {
        session.session.id = notice.session_id;
        session.session.created_at = commit.now;
      }
      stored.seq = ++session.session.last_notice;
    }
    out.notice_seqs.push_back(stored.seq);
  }
}

Result<Committed> MemoryDisk::apply(const Commit& commit) {
  if (const Status allowed = check(commit); !allowed) return std::unexpected(allowed.error());
  Committed out;
  int64_t seq_before = 0;
  if (commit.after) {
    TaskRow* row = find(commit.task_id);
    if (!row) {
      numbers[commit.task_id] = ++last_number;
      row = &tasks[last_number];
    }
    seq_before = row->task.last_seq;
    row->task = *commit.after;
    for (const Event& event : commit.events) {
      row->events.push_back(event);
      row->events.back().pos = ++last_pos;
      order[last_pos] = {commit.task_id, event.seq};
      if (out.first_pos == 0) out.first_pos = last_pos;
    }
  }
  if (commit.session) {
    const auto [entry, made] = sessions.try_emplace(commit.session->id);
    if (made) {
      entry->second.session = *commit.session;
      entry->second.session.last_message = entry->second.session.last_notice = 0;
    }
  }
  store_messages(commit, seq_before, out);
  store_notices(commit, out);
  for (const NoticeId& id : commit.taken) {
    const auto notice = notices.find(id);
    if (notice != notices.end() && !notice->second.taken_at) notice->second.taken_at = commit.now;
  }
  if (commit.key) keys.emplace(commit.key->key, *commit.key);
  usage.insert(usage.end(), commit.usage.begin(), commit.usage.end());
  for (const Commit::Setting& setting : commit.settings) {
    if (setting.json.empty())
      settings.erase(setting.name);
    else
      settings[setting.name] = setting.json;
  }
  if (commit.remove) remove_task(commit, out);
  if (commit.forget) forget(*commit.forget, out);
  if (commit.remove_session) remove_session(*commit.remove_session);
  return out;
}

}  // namespace errand
