// Messages of a session; those that were stored without parts are put together from their task's events.
#include <algorithm>
#include <limits>
#include <sqlite3.h>

#include <fmt/format.h>

#include "store/rules.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/rows.h"
#include "task/json_in.h"

namespace errand::sqlite {
namespace {

struct OwnSession {
  int64_t number = 0;
  SessionId id;
  int64_t task_number = 0;  // 0: no task works in it.
  int64_t task_seq = 0;
};

constexpr const char* own_session_columns = "s.n, s.id, t.n, t.last_seq";
constexpr const char* own_session_tables = "sessions s LEFT JOIN tasks t ON t.id = s.task";

OwnSession read_own_session(const Statement& row) {
  return {row.integer(0), SessionId(row.text(1)), row.integer(2), row.integer(3)};
}

Status put_together(Database& db, const OwnSession& session, StoredMessage& stored) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM events e CROSS JOIN tasks t ON t.n = e.task WHERE e.task = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND "
      "e.type IN ({}, {}, {}) ORDER BY e.seq",
      event_columns, static_cast<int>(EventType::message_delta), static_cast<int>(EventType::tool_started),
      static_cast<int>(EventType::tool_completed));
  if (session.task_number == 0 || !is_unfinished(stored.message)) return {};
  Use row(db.cached(sql).bind(1, session.task_number).bind(2, stored.from_seq));
  row->bind(3, stored.to_seq == 0 ? std::numeric_limits<int64_t>::max() : stored.to_seq);
  std::vector<Part> kept = take_opaque(stored.message);
  int code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    const Result<Event> event = read_event(*row);
    if (!event) return std::unexpected(event.error());
    apply_event(stored.message, *event);
  }
  if (code != SQLITE_DONE) return std::unexpected(db.error(code, "read events"));
  put_opaque(stored.message, std::move(kept));
  return {};
}

}  // namespace

Result<MessagePage> messages(Database& db, const SessionId& id, int64_t after, int64_t before, int limit) {
  static const std::string own =
      fmt::format("SELECT {} FROM {} WHERE s.id = ?1", own_session_columns, own_session_tables);
  static const std::string up =
      fmt::format("SELECT {} FROM messages m WHERE m.m > ?1 AND m.m < ?2 ORDER BY m.m LIMIT ?3", message_columns);
  static const std::string down =
      fmt::format("SELECT {} FROM messages m WHERE m.m > ?1 AND m.m < ?2 ORDER BY m.m DESC LIMIT ?3", message_columns);
  const Snapshot snapshot(db);
  OwnSession session;
  {
    Use row(db.cached(own).bind(1, id.value));
    const int code = row->step();
    if (code == SQLITE_DONE) return std::unexpected(unknown_session(id));
    if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read a session"));
    session = read_own_session(*row);
  }
  MessagePage page;
  page.task_seq = session.task_seq;
  const bool newest_below = before > 0 && after <= 0;
  const int64_t end = before > 0 ? std::min(before, messages_a_session) : messages_a_session;
  Use row(db.cached(newest_below ? down : up));
  row->bind(1, message_key(session.number, std::clamp<int64_t>(after, 0, messages_a_session - 1)));
  row->bind(2, message_key(session.number, 0) + end).bind(3, int64_t{limit} + 1);
  int code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    if (std::ssize(page.messages) == limit) {
      page.more = true;
      break;
    }
    Result<StoredMessage> stored = read_message(*row);
    if (!stored) return std::unexpected(stored.error());
    if (const Status whole = put_together(db, session, *stored); !whole) return std::unexpected(whole.error());
    stored->message.session_id = id;
    page.messages.push_back(std::move(stored->message));
  }
  if (code != SQLITE_DONE && code != SQLITE_ROW) return std::unexpected(db.error(code, "read messages"));
  if (newest_below) std::ranges::reverse(page.messages);
  return page;
}

Result<Message> get_message(Database& db, const MessageId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM messages m WHERE m.id = ?1", message_columns);
  static const std::string own =
      fmt::format("SELECT {} FROM {} WHERE s.n = ?1", own_session_columns, own_session_tables);
  const Snapshot snapshot(db);
  Use row(db.cached(sql).bind(1, id.value));
  int code = row->step();
  if (code == SQLITE_DONE) return std::unexpected(unknown_message(id));
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read a message"));
  Result<StoredMessage> stored = read_message(*row);
  if (!stored) return std::unexpected(stored.error());
  OwnSession session;
  {
    Use owner(db.cached(own).bind(1, row->integer(0) / messages_a_session));
    code = owner->step();
    // Its session is gone, and it will be.
    if (code == SQLITE_DONE) return std::unexpected(unknown_message(id));
    if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read a session"));
    session = read_own_session(*owner);
  }
  if (const Status whole = put_together(db, session, *stored); !whole) return std::unexpected(whole.error());
  stored->message.session_id = session.id;
  return std::move(stored->message);
}

}  // namespace errand::sqlite
