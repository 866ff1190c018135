// The part of CommitWriter that is about sessions, messages and notices.
#include <algorithm>

#include <fmt/format.h>

#include "store/postgres/commit_writer.h"
#include "store/postgres/rows.h"

namespace errand::postgres {
namespace {

// So many messages are deleted together with their session; more are left to the housekeeper.
constexpr int64_t messages_at_once = 256;

}  // namespace

CommitWriter::PlannedSession* CommitWriter::plan_session(const Commit& commit, const SessionId& id, bool may_be_bare,
                                                         Plan& plan) {
  for (PlannedSession& planned : plan.sessions)
    if (planned.id == id) return &planned;
  PlannedSession planned{.id = id};
  if (const auto known = sessions_.find(id.value); known != sessions_.end()) {
    planned.after = known->second;
  } else {
    planned.made = commit.session && commit.session->id == id ? &*commit.session : nullptr;
    if (!planned.made && !may_be_bare) return nullptr;
    planned.fresh = true;
    planned.after.number = kept_.last_session + std::ranges::count_if(plan.sessions, &PlannedSession::fresh) + 1;
  }
  return &plan.sessions.emplace_back(std::move(planned));
}

Status CommitWriter::plan(const Commit& commit, int64_t seq_before, Plan& out) {
  if (commit.session) plan_session(commit, commit.session->id, false, out);
  if (const Status messages = plan_messages(commit, seq_before, out); !messages) return messages;
  return plan_notices(commit, out);
}

Status CommitWriter::plan_messages(const Commit& commit, int64_t seq_before, Plan& out) {
  for (size_t i = 0; i < commit.messages.size(); ++i) {
    const Message& message = commit.messages[i];
    PlannedSession* const session = plan_session(commit, message.session_id, false, out);
    if (!session) return std::unexpected(unknown_session(message.session_id));
    PlannedMessage planned{.events = events_of(message, commit, seq_before)};

    // Known from this commit, or from before.
    if (const auto known = messages_.find(message.id.value); known != messages_.end()) planned.place = known->second;
    for (size_t before = 0; before < i; ++before)
      if (commit.messages[before].id == message.id) planned.place = out.messages[before].place;
    if (planned.place.seq != 0) {
      if (planned.place.session != session->after.number) return std::unexpected(other_session(message));
      planned.events.after = planned.place.from_seq;
    } else {
      const int64_t next = session->after.last_message + 1;
      if (message.seq != 0 && message.seq != next) return std::unexpected(out_of_order(message, next));
      session->after.last_message = next;
      session->changed = true;
      planned.place = {session->after.number, next, planned.events.after};
    }
    out.messages.push_back(planned);
  }
  return {};
}

Status CommitWriter::plan_notices(const Commit& commit, Plan& out) {
  for (const Notice& notice : commit.notices) {
    if (notices_.contains(notice.id.value))
      return fail(Code::conflict, fmt::format("There is a notice {} already.", notice.id.value));
    if (notice.session_id.empty()) {
      out.notices.push_back(0);
      continue;
    }
    PlannedSession* const session = plan_session(commit, notice.session_id, true, out);
    session->changed = true;
    out.notices.push_back(++session->after.last_notice);
  }
  return {};
}

void CommitWriter::store_sessions(const Commit& commit, const Plan& plan) {
  static const Session bare;
  for (const PlannedSession& planned : plan.sessions) {
    const KnownSession& after = planned.after;
    if (planned.fresh) {
      const Session& session = planned.made ? *planned.made : bare;
      Values values;
      values.add(after.number).add(planned.id.value).add_or_null(session.task_id.value).add(session.origin);
      values.add(session.title).add(planned.made ? session.created_at.ms : commit.now.ms);
      values.add(after.last_message).add(after.last_notice);
      db_.send(
          "INSERT INTO sessions (n, id, task, origin, title, created_at, last_message, last_notice) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
          values);
      kept_.last_session = after.number;
    } else if (planned.changed) {
      db_.send("UPDATE sessions SET last_message = $2, last_notice = $3 WHERE n = $1",
               Values().add(after.number).add(after.last_message).add(after.last_notice));
    }
    sessions_[planned.id.value] = after;
  }
}

void CommitWriter::store_messages(const Commit& commit, const Plan& plan, Committed& out) {
  for (size_t i = 0; i < commit.messages.size(); ++i) {
    const PlannedMessage& planned = plan.messages[i];
    messages_[commit.messages[i].id.value] = planned.place;
    db_.send(put_message_sql, put_message(planned.place.session, planned.place.seq, commit.messages[i],
                                          planned.events.after, planned.events.until));
    out.message_seqs.push_back(planned.place.seq);
  }
}

void CommitWriter::owe(std::string_view task, int64_t difference) {
  db_.send("UPDATE tasks SET owed = greatest(owed + $2, 0) WHERE id = $1", Values().add(task).add(difference));
}

void CommitWriter::store_notices(const Commit& commit, const Plan& plan, Committed& out) {
  for (size_t i = 0; i < commit.notices.size(); ++i) {
    const Notice& notice = commit.notices[i];
    notices_.insert(notice.id.value);
    db_.send(insert_notice_sql, inserted_notice(notice, plan.notices[i]));
    if (!notice.session_id.empty() && !notice.taken_at) owe(notice.task_id.value, +1);
    out.notice_seqs.push_back(plan.notices[i]);
  }
}

void CommitWriter::take_notices(const Commit& commit) {
  for (const NoticeId& id : commit.taken)
    db_.send(
        "WITH taken AS (UPDATE notices SET taken_at = $2 WHERE id = $1 AND taken_at IS NULL RETURNING task, session) "
        "UPDATE tasks SET owed = greatest(owed - 1, 0) FROM taken WHERE tasks.id = taken.task AND taken.session IS NOT "
        "NULL",
        Values().add(id.value).add(commit.now.ms));
}

void CommitWriter::remove_session(const SessionId& id) {
  if (id.empty()) return;
  db_.send(
      "WITH owing AS (SELECT task, count(*) AS many FROM notices WHERE session = $1 AND taken_at IS NULL GROUP BY "
      "task) UPDATE tasks SET owed = greatest(owed - owing.many, 0) FROM owing WHERE tasks.id = owing.task",
      Values().add(id.value));
  db_.send("DELETE FROM notices WHERE session = $1", Values().add(id.value));
  const std::string own = session_setting_prefix(id);
  std::string behind = own;  // The first name that does not begin so.
  ++behind.back();
  db_.send("DELETE FROM settings WHERE name >= $1 AND name < $2", Values().add(own).add(behind));
  const auto known = sessions_.find(id.value);
  if (known == sessions_.end()) return;
  const KnownSession session = known->second;
  sessions_.erase(known);
  std::erase_if(messages_, [&](const auto& entry) { return entry.second.session == session.number; });
  db_.send("DELETE FROM sessions WHERE n = $1", Values().add(session.number));
  if (session.last_message > messages_at_once) {
    db_.send("INSERT INTO garbage (session) VALUES ($1)", Values().add(session.number));
    work_behind_ = true;
  } else {
    db_.send("DELETE FROM messages WHERE session = $1", Values().add(session.number));
  }
}

}  // namespace errand::postgres
