// Rows that have the same columns in every database: what each column means, in one place. `Row` has text(i),
// integer(i) and time(i), as sqlite::Statement and postgres::Row do.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace errand::rows {

inline constexpr const char* notice_columns = "id, session, seq, task, turn, kind, text, data, created_at, taken_at";
inline constexpr const char* session_columns = "id, task, origin, title, created_at, last_message, last_notice";
inline constexpr const char* tombstone_columns = "pos, task, parent, why, at";

// Whether an enum whose last value is `last` has this one.
template <class E>
bool in_range(int64_t number, E last) {
  return number >= 0 && number <= static_cast<int64_t>(last);
}

template <class Row>
Notice notice(const Row& row) {
  Notice notice;
  notice.id = NoticeId(row.text(0));
  notice.session_id = SessionId(row.text(1));
  notice.seq = row.integer(2);
  notice.task_id = TaskId(row.text(3));
  notice.turn = static_cast<int>(row.integer(4));
  if (in_range(row.integer(5), NoticeKind::progress)) notice.kind = static_cast<NoticeKind>(row.integer(5));
  notice.text = row.text(6);
  notice.data = row.text(7);
  notice.created_at = row.time(8);
  notice.taken_at = row.time(9);
  return notice;
}

template <class Row>
Session session(const Row& row) {
  Session session;
  session.id = SessionId(row.text(0));
  session.task_id = TaskId(row.text(1));
  session.origin = row.text(2);
  session.title = row.text(3);
  session.created_at = row.time(4);
  session.last_message = row.integer(5);
  session.last_notice = row.integer(6);
  return session;
}

template <class Row>
Tombstone tombstone(const Row& row) {
  Tombstone tombstone;
  tombstone.pos = row.integer(0);
  tombstone.task_id = TaskId(row.text(1));
  tombstone.parent_session_id = SessionId(row.text(2));
  if (in_range(row.integer(3), Gone::session_ended)) tombstone.why = static_cast<Gone>(row.integer(3));
  tombstone.at = row.time(4);
  return tombstone;
}

}  // namespace errand::rows
