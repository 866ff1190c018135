// The part of CommitWriter that is about sessions, messages and notices.
#include <algorithm>

#include <fmt/format.h>

#include "store/sqlite/commit_writer.h"
#include "store/sqlite/rows.h"
#include "task/json_in.h"

namespace errand::sqlite {

CommitWriter::KnownSession* CommitWriter::find_session(const SessionId& id) {
  const auto known = sessions_.find(id.value);
  if (known != sessions_.end()) return &known->second;
  if (session_mark_.below(id.value)) return nullptr;
  Use found(find_session_.bind(1, id.value));
  if (!row(*found)) return nullptr;
  const KnownSession session{found->integer(0), found->integer(1), found->integer(2)};
  return &sessions_.emplace(id.value, session).first->second;
}

CommitWriter::PlannedSession* CommitWriter::plan_session(const Commit& commit, const SessionId& id, bool may_be_bare,
                                                         Plan& plan) {
  for (PlannedSession& planned : plan.sessions)
    if (planned.id == id) return &planned;
  PlannedSession planned{.id = id};
  if (const KnownSession* known = find_session(id)) {
    planned.after = *known;
  } else {
    planned.made = commit.session && commit.session->id == id ? &*commit.session : nullptr;
    if (!planned.made && !may_be_bare) return nullptr;
    planned.fresh = true;
    const auto fresh = std::ranges::count_if(plan.sessions, &PlannedSession::fresh);
    planned.after.number = draft_.last_session + fresh + 1;
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
    PlannedSession* session = plan_session(commit, message.session_id, false, out);
    if (!session) return std::unexpected(unknown_session(message.session_id));
    PlannedMessage planned{0, events_of(message, commit, seq_before)};

    // Known from this commit, or from the table.
    for (size_t before = 0; before < i; ++before) {
      if (commit.messages[before].id != message.id) continue;
      planned.key = out.messages[before].key;
      planned.events.after = out.messages[before].events.after;
    }
    if (planned.key == 0 && !message_mark_.below(message.id.value)) {
      Use found(find_message_.bind(1, message.id.value));
      if (row(*found)) {
        planned.key = found->integer(0);
        planned.events.after = found->integer(1);
      }
    }
    if (planned.key != 0) {
      if (planned.key / messages_a_session != session->after.number) return std::unexpected(other_session(message));
    } else {
      const int64_t next = session->after.last_message + 1;
      if (message.seq != 0 && message.seq != next) return std::unexpected(out_of_order(message, next));
      if (next >= messages_a_session)
        return fail(Code::too_large, "A session has at most 1,048,575 messages: go on in a new one.");
      session->after.last_message = next;
      session->changed = true;
      planned.key = message_key(session->after.number, next);
    }
    out.messages.push_back(planned);
  }
  return {};
}

Status CommitWriter::plan_notices(const Commit& commit, Plan& out) {
  for (const Notice& notice : commit.notices) {
    Use found(db_->cached("SELECT 1 FROM notices WHERE id = ?1").bind(1, notice.id.value));
    if (row(*found)) return fail(Code::conflict, fmt::format("There is a notice {} already.", notice.id.value));
    if (notice.session_id.empty()) {
      out.notices.push_back(0);
      continue;
    }
    PlannedSession* session = plan_session(commit, notice.session_id, true, out);
    session->changed = true;
    out.notices.push_back(++session->after.last_notice);
  }
  return {};
}

void CommitWriter::store_sessions(const Commit& commit, const Plan& plan) {
  static const Session bare;
  for (const PlannedSession& planned : plan.sessions) {
    if (failure_ != 0) return;
    const KnownSession& after = planned.after;
    if (planned.fresh) {
      const Session& session = planned.made ? *planned.made : bare;
      insert_session_.bind(1, after.number).bind(2, planned.id.value).bind_text_or_null(3, session.task_id.value);
      insert_session_.bind(4, session.origin).bind(5, session.title);
      insert_session_.bind(6, planned.made ? session.created_at.ms : commit.now.ms);
      insert_session_.bind(7, after.last_message).bind(8, after.last_notice);
      if (!ok(insert_session_.run())) return;
      session_mark_.note(planned.id.value);
      draft_.last_session = after.number;
    } else if (planned.changed) {
      update_session_.bind(1, after.number).bind(2, after.last_message).bind(3, after.last_notice);
      if (!ok(update_session_.run())) return;
    }
    sessions_[planned.id.value] = after;
  }
}

void CommitWriter::store_messages(const Commit& commit, const Plan& plan, Committed& out) {
  for (size_t i = 0; i < commit.messages.size() && failure_ == 0; ++i) {
    const PlannedMessage& planned = plan.messages[i];
    message_mark_.note(commit.messages[i].id.value);
    const std::string parts = encode_parts(commit.messages[i].parts);
    bind_message(put_message_, planned.key, commit.messages[i], parts, planned.events.after, planned.events.until);
    ok(put_message_.run());
    out.message_seqs.push_back(planned.key % messages_a_session);
  }
}

void CommitWriter::owe(std::string_view task, int64_t difference) {
  ok(db_->cached("UPDATE tasks SET owed = max(owed + ?2, 0) WHERE id = ?1").bind(1, task).bind(2, difference).run());
}

void CommitWriter::store_notices(const Commit& commit, const Plan& plan, Committed& out) {
  for (size_t i = 0; i < commit.notices.size() && failure_ == 0; ++i) {
    const Notice& notice = commit.notices[i];
    Statement& put = db_->cached(insert_notice_sql);
    bind_notice(put, notice, plan.notices[i]);
    ok(put.run());
    if (!notice.session_id.empty() && !notice.taken_at) owe(notice.task_id.value, +1);
    out.notice_seqs.push_back(plan.notices[i]);
  }
}

void CommitWriter::take_notices(const Commit& commit) {
  for (const NoticeId& id : commit.taken) {
    if (failure_ != 0) return;
    std::string task;
    bool owed = false;
    {
      Use found(db_->cached("SELECT task, session FROM notices WHERE id = ?1 AND taken_at IS NULL").bind(1, id.value));
      if (!row(*found)) continue;
      task = found->text(0);
      owed = !found->is_null(1);
    }
    ok(db_->cached("UPDATE notices SET taken_at = ?2 WHERE id = ?1").bind(1, id.value).bind(2, commit.now.ms).run());
    if (owed) owe(task, -1);
  }
}

void CommitWriter::remove_session(const SessionId& id) {
  if (id.empty() || failure_ != 0) return;
  std::vector<std::string> owing;
  {
    Use found(db_->cached("SELECT task FROM notices WHERE session = ?1 AND taken_at IS NULL").bind(1, id.value));
    while (row(*found)) owing.emplace_back(found->text(0));
  }
  for (const std::string& task : owing) owe(task, -1);
  ok(db_->cached("DELETE FROM notices WHERE session = ?1").bind(1, id.value).run());
  const std::string own = session_setting_prefix(id);
  std::string behind = own;  // The first name that does not begin so.
  ++behind.back();
  ok(db_->cached("DELETE FROM settings WHERE name >= ?1 AND name < ?2").bind(1, own).bind(2, behind).run());
  const KnownSession* known = find_session(id);
  if (!known) return;
  ok(db_->cached("DELETE FROM sessions WHERE n = ?1").bind(1, known->number).run());
  remove_messages(known->number, known->last_message);
  sessions_.erase(id.value);
}

}  // namespace errand::sqlite
