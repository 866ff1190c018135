// Messages of a session; those that were stored without parts are put together from their task's events.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "store/postgres/reads.h"
#include "store/postgres/rows.h"
#include "store/rules.h"
#include "task/json_in.h"

namespace errand::postgres {
namespace {

struct OwnSession {
  SessionId id;
  int64_t task_number = 0;  // 0: no task works in it.
  int64_t task_seq = 0;
};

OwnSession read_own_session(const Row& row) {
  return {SessionId(row.text(0)), row.is_null(1) ? 0 : row.integer(1), row.is_null(2) ? 0 : row.integer(2)};
}

// In the transaction that has read them; ends it.
Status put_together(Connection& db, const OwnSession& session, std::vector<StoredMessage>& stored) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM events e JOIN tasks t ON t.n = e.task WHERE e.task = $1 AND e.seq > $2 AND e.seq <= $3 AND "
      "e.type IN ({}, {}, {}) ORDER BY e.seq",
      event_columns, static_cast<int>(EventType::message_delta), static_cast<int>(EventType::tool_started),
      static_cast<int>(EventType::tool_completed));
  std::vector<StoredMessage*> open;
  for (StoredMessage& message : stored) {
    if (session.task_number == 0 || !is_unfinished(message.message)) continue;
    open.push_back(&message);
    db.send(sql, Values()
                     .add(session.task_number)
                     .add(message.from_seq)
                     .add(message.to_seq == 0 ? std::numeric_limits<int64_t>::max() : message.to_seq));
  }
  db.send("COMMIT");
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  for (size_t i = 0; i < open.size(); ++i) {
    const Rows& events = (*answers)[i];
    std::vector<Part> kept = take_opaque(open[i]->message);
    for (int at = 0; at < events.count(); ++at) {
      const Result<Event> event = read_event({events, at});
      if (!event) return std::unexpected(event.error());
      apply_event(open[i]->message, *event);
    }
    put_opaque(open[i]->message, std::move(kept));
  }
  return {};
}

}  // namespace

Result<MessagePage> messages(Connection& db, const SessionId& id, int64_t after, int64_t before, int limit) {
  static const std::string page_of =
      "SELECT {} FROM messages m WHERE m.session = (SELECT n FROM sessions WHERE id = $1) AND m.seq > $2 AND m.seq < "
      "$3 ORDER BY m.seq {} LIMIT $4";
  static const std::string up = fmt::format(fmt::runtime(page_of), message_columns, "");
  static const std::string down = fmt::format(fmt::runtime(page_of), message_columns, "DESC");
  const bool newest_below = before > 0 && after <= 0;
  db.send(one_moment);
  db.send("SELECT s.id, t.n, t.last_seq FROM sessions s LEFT JOIN tasks t ON t.id = s.task WHERE s.id = $1",
          Values().add(id.value));
  db.send(newest_below ? down : up, Values()
                                        .add(id.value)
                                        .add(std::max<int64_t>(after, 0))
                                        .add(before > 0 ? before : std::numeric_limits<int64_t>::max())
                                        .add(int64_t{limit} + 1));
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  if ((*answers)[1].count() == 0) return std::unexpected(unknown_session(id));
  const OwnSession session = read_own_session({(*answers)[1], 0});
  MessagePage page;
  page.task_seq = session.task_seq;
  const Rows& rows = (*answers)[2];
  page.more = rows.count() > limit;
  std::vector<StoredMessage> stored;
  for (int i = 0; i < std::min(rows.count(), limit); ++i) {
    Result<StoredMessage> message = read_message({rows, i});
    if (!message) return std::unexpected(message.error());
    stored.push_back(std::move(*message));
  }
  if (const Status whole = put_together(db, session, stored); !whole) return std::unexpected(whole.error());
  for (StoredMessage& message : stored) {
    message.message.session_id = id;
    page.messages.push_back(std::move(message.message));
  }
  if (newest_below) std::ranges::reverse(page.messages);
  return page;
}

Result<Message> get_message(Connection& db, const MessageId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM messages m WHERE m.id = $1", message_columns);
  db.send(one_moment);
  db.send(sql, Values().add(id.value));
  // Where its session is gone, it will be.
  db.send(
      "SELECT s.id, t.n, t.last_seq FROM messages m JOIN sessions s ON s.n = m.session LEFT JOIN tasks t ON t.id = "
      "s.task WHERE m.id = $1",
      Values().add(id.value));
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  if ((*answers)[2].count() == 0) return std::unexpected(unknown_message(id));
  std::vector<StoredMessage> stored(1);
  Result<StoredMessage> read = read_message({(*answers)[1], 0});
  if (!read) return std::unexpected(read.error());
  stored[0] = std::move(*read);
  const OwnSession session = read_own_session({(*answers)[2], 0});
  if (const Status whole = put_together(db, session, stored); !whole) return std::unexpected(whole.error());
  stored[0].message.session_id = session.id;
  return std::move(stored[0].message);
}

}  // namespace errand::postgres
