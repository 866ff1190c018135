#include "store/sqlite/reads.h"

#include <algorithm>
#include <limits>
#include <sqlite3.h>

#include <fmt/format.h>

#include "store/rules.h"
#include "store/sqlite/commit_writer.h"
#include "store/sqlite/rows.h"
#include "store/usage_tally.h"

namespace errand::sqlite {
namespace {

// Behind every text that begins with `prefix`: no UTF-8 has a byte 0xFF.
std::string behind(const std::string& prefix) { return prefix + '\xFF'; }

// All rows of a statement, each made a value (or a Result of one) by `read`.
template <class Read>
auto all(Database& db, Statement& statement, Read read) {
  using Made = std::invoke_result_t<Read, const Statement&>;
  constexpr bool may_fail = requires(Made made) { made.error(); };
  const auto value_of = [](Made made) {
    if constexpr (may_fail)
      return std::move(*made);
    else
      return made;
  };
  using Value = decltype(value_of(std::declval<Made>()));
  Result<std::vector<Value>> out;
  Use rows(statement);
  int code = SQLITE_OK;
  while ((code = rows->step()) == SQLITE_ROW) {
    Made made = read(*rows);
    if constexpr (may_fail) {
      if (!made) return out = std::unexpected(made.error());
    }
    out->push_back(value_of(std::move(made)));
  }
  if (code != SQLITE_DONE) out = std::unexpected(db.error(code, "read it"));
  return out;
}

// The first row; or `missing`.
template <class Read>
auto first(Database& db, Statement& statement, Read read, const Error& missing) {
  auto rows = all(db, statement, read);
  using Value = typename std::remove_reference_t<decltype(*rows)>::value_type;
  Result<Value> out = std::unexpected(missing);
  if (!rows)
    out = std::unexpected(rows.error());
  else if (!rows->empty())
    out = std::move(rows->front());
  return out;
}

TaskId read_id(const Statement& row) { return TaskId(row.text(0)); }

Error unknown(Database& db, const TaskId& id) {
  Use row(db.cached("SELECT pos, task, parent, why, at FROM tombstones WHERE task = ?1").bind(1, id.value));
  if (row->step() != SQLITE_ROW) return unknown_task(id, nullptr);
  const Tombstone gone = read_tombstone(*row);
  return unknown_task(id, &gone);
}

}  // namespace

Result<Task> get_task(Database& db, const TaskId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM {} WHERE t.id = ?1", task_columns, task_tables);
  const Snapshot snapshot(db);
  Result<std::vector<Task>> found = all(db, db.cached(sql).bind(1, id.value), read_task);
  if (!found) return std::unexpected(found.error());
  if (found->empty()) return std::unexpected(unknown(db, id));
  return std::move(found->front());
}

Result<std::vector<TaskId>> find_prefix(Database& db, const std::string& prefix, int limit) {
  const std::string end = behind(prefix);
  return all(db,
             db.cached("SELECT id FROM tasks WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3")
                 .bind(1, prefix)
                 .bind(2, end)
                 .bind(3, limit),
             read_id);
}

Result<std::vector<Task>> working(Database& db) {
  static const std::string sql =
      fmt::format("SELECT {} FROM {} WHERE t.phase = 1 ORDER BY t.n", task_columns, task_tables);
  return all(db, db.cached(sql), read_task);
}

Result<std::vector<QueuedTask>> queued(Database& db, int64_t from, int64_t to, size_t expected) {
  Use rows(db.cached("SELECT id, agent, model, batch, priority, queued_at, over_limit FROM tasks "
                     "WHERE phase = 0 AND n BETWEEN ?1 AND ?2")
               .bind(1, from)
               .bind(2, to));
  std::vector<QueuedTask> out;
  out.reserve(expected);
  int code = SQLITE_OK;
  while ((code = rows->step()) == SQLITE_ROW) {
    QueuedTask& task = out.emplace_back();
    task.id = TaskId(rows->text(0));
    task.agent_id = rows->text(1);
    task.model = rows->text(2);
    task.batch_id = BatchId(rows->text(3));
    task.priority = static_cast<int>(rows->integer(4));
    task.queued_at = rows->time(5);
    task.over_limit = rows->integer(6) != 0;
  }
  if (code != SQLITE_DONE) return std::unexpected(db.error(code, "read what waits"));
  return out;
}

Result<std::pair<int64_t, int64_t>> queued_range(Database& db) {
  Use row(db.cached("SELECT (SELECT min(n) FROM tasks WHERE phase = 0), (SELECT max(n) FROM tasks WHERE phase = 0)"));
  if (const int code = row->step(); code != SQLITE_ROW) return std::unexpected(db.error(code, "read what waits"));
  return std::pair(row->integer(0), row->integer(1));
}

// At rest: completed, failed, cancelled.
Result<std::vector<TaskId>> expired(Database& db, Time now, int limit) {
  return all(db,
             db.cached("SELECT id FROM tasks WHERE expires_at IS NOT NULL AND owed = 0 AND expires_at <= ?1 "
                       "AND state IN (2, 3, 4) ORDER BY expires_at, n LIMIT ?2")
                 .bind(1, now.ms)
                 .bind(2, limit),
             read_id);
}

Result<Time> next_expiry(Database& db) {
  const Result<int64_t> time = db.number(
      "SELECT expires_at FROM tasks WHERE expires_at IS NOT NULL AND owed = 0 AND state IN (2, 3, 4) "
      "ORDER BY expires_at LIMIT 1");
  if (!time) return std::unexpected(time.error());
  return Time{*time};
}

Result<BatchCounts> batch_counts(Database& db, const BatchId& id) {
  Use row(db.cached("SELECT pending, running, completed, failed, cancelled, resumed FROM batches WHERE id = ?1")
              .bind(1, id.value));
  BatchCounts counts;
  const int code = row->step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(db.error(code, "read a batch"));
  if (code == SQLITE_ROW)
    for (int i = 0; i < task_state_count; ++i) counts.by_state[i] = row->integer(i);
  return counts;
}

Result<BatchPage> batches(Database& db, const std::string& cursor, int limit) {
  if (const Status ok = check_page({.limit = limit}); !ok) return std::unexpected(ok.error());
  const Snapshot snapshot(db);
  BatchPage out;
  {
    // Past every id: U+10FFFF.
    Use row(
        db.cached("SELECT id, pending, running, completed, failed, cancelled, resumed FROM batches WHERE id < ?1 "
                  "ORDER BY id DESC LIMIT ?2"));
    row->bind(1, cursor.empty() ? std::string_view("\xF4\x8F\xBF\xBF") : std::string_view(cursor));
    row->bind(2, int64_t{limit} + 1);
    int code = SQLITE_OK;
    while ((code = row->step()) == SQLITE_ROW) {
      if (std::ssize(out.batches) == limit) {
        out.next_cursor = out.batches.back().id.value;
        continue;
      }
      BatchInfo& info = out.batches.emplace_back();
      info.id = BatchId(row->text(0));
      for (int i = 0; i < task_state_count; ++i) info.counts.by_state[i] = row->integer(1 + i);
    }
    if (code != SQLITE_DONE) return std::unexpected(db.error(code, "read batches"));
  }
  for (BatchInfo& info : out.batches) {
    Use row(db.cached("SELECT l.title, l.created_at FROM tasks t JOIN launches l ON l.n = t.n WHERE t.batch = ?1 "
                      "ORDER BY t.n LIMIT 1")
                .bind(1, info.id.value));
    const int code = row->step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(db.error(code, "read a batch"));
    if (code == SQLITE_DONE) continue;
    info.title = row->text(0);
    info.created_at = row->time(1);
  }
  return out;
}

Result<UsageReport> usage(Database& db, const UsageQuery& query) {
  static const std::string sql =
      fmt::format("SELECT {} FROM usage WHERE at >= ?1 AND at < ?2 ORDER BY at", usage_columns);
  UsageTally tally(query);
  Use row(db.cached(sql).bind(1, query.from.ms));
  row->bind(2, query.to ? query.to.ms : std::numeric_limits<int64_t>::max());
  int code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    const Result<UsageRow> used = read_usage(*row);
    if (!used) return std::unexpected(used.error());
    tally.add(*used);
  }
  if (code != SQLITE_DONE) return std::unexpected(db.error(code, "read usage"));
  return std::move(tally).report();
}

Result<std::vector<TaskId>> tasks_of_parent(Database& db, const SessionId& parent) {
  return all(db, db.cached("SELECT id FROM tasks WHERE parent = ?1 ORDER BY n").bind(1, parent.value), read_id);
}

Result<std::vector<Event>> events_after(Database& db, const TaskId& id, int64_t seq, int limit) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM tasks t CROSS JOIN events e ON e.task = t.n WHERE t.id = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT "
      "?3",
      event_columns);
  const Snapshot snapshot(db);
  auto events = all(db, db.cached(sql).bind(1, id.value).bind(2, seq).bind(3, limit), read_event);
  if (!events || !events->empty()) return events;
  Use row(db.cached("SELECT 1 FROM tasks WHERE id = ?1").bind(1, id.value));
  if (row->step() != SQLITE_ROW) return std::unexpected(unknown(db, id));
  return events;
}

Result<std::vector<Change>> changes_after(Database& db, int64_t pos, int limit) {
  static const std::string sql =
      fmt::format("SELECT {} FROM events e CROSS JOIN tasks t ON t.n = e.task WHERE e.pos > ?1 ORDER BY e.pos LIMIT ?2",
                  event_columns);
  const Snapshot snapshot(db);
  const Result<Kept> kept = read_kept(db);
  if (!kept) return std::unexpected(kept.error());
  if (pos > kept->last_pos) return std::unexpected(history_gone());
  const Result<int64_t> forgotten = db.number("SELECT forgotten_pos FROM meta WHERE one = 1");
  if (!forgotten) return std::unexpected(forgotten.error());
  if (pos > 0 && pos < *forgotten) return std::unexpected(history_gone());
  auto events = all(db, db.cached(sql).bind(1, pos).bind(2, limit), read_event);
  if (!events) return std::unexpected(events.error());
  auto gone = all(db,
                  db.cached("SELECT pos, task, parent, why, at FROM tombstones WHERE pos > ?1 ORDER BY pos LIMIT ?2")
                      .bind(1, pos)
                      .bind(2, limit),
                  read_tombstone);
  if (!gone) return std::unexpected(gone.error());
  std::vector<Change> out;
  size_t event = 0, tombstone = 0;
  while (std::ssize(out) < limit && (event < events->size() || tombstone < gone->size())) {
    Change& change = out.emplace_back();
    if (tombstone == gone->size() || (event < events->size() && (*events)[event].pos < (*gone)[tombstone].pos)) {
      change.event = std::move((*events)[event++]);
      change.pos = change.event->pos;
    } else {
      change.gone = std::move((*gone)[tombstone++]);
      change.pos = change.gone->pos;
    }
  }
  return out;
}

Result<Session> get_session(Database& db, const SessionId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM sessions WHERE id = ?1", session_columns);
  return first(db, db.cached(sql).bind(1, id.value), read_session, unknown_session(id));
}

Result<std::vector<Notice>> notices(Database& db, const SessionId& id, int64_t after, int limit) {
  static const std::string sql =
      fmt::format("SELECT {} FROM notices WHERE session = ?1 AND seq > ?2 AND taken_at IS NULL ORDER BY seq LIMIT ?3",
                  notice_columns);
  return all(db, db.cached(sql).bind(1, id.value).bind(2, after).bind(3, limit), read_notice);
}

Result<Notice> get_notice(Database& db, const NoticeId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM notices WHERE id = ?1", notice_columns);
  return first(db, db.cached(sql).bind(1, id.value), read_notice, unknown_notice(id));
}

Result<std::vector<Notice>> notices_of_task(Database& db, const TaskId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM notices WHERE task = ?1 ORDER BY id", notice_columns);
  return all(db, db.cached(sql).bind(1, id.value), read_notice);
}

Result<std::optional<Commit::Key>> find_key(Database& db, const std::string& key) {
  auto found = all(db, db.cached("SELECT key, fingerprint, task FROM keys WHERE key = ?1").bind(1, key),
                   [](const Statement& row) {
                     return Commit::Key{std::string(row.text(0)), std::string(row.text(1)), TaskId(row.text(2))};
                   });
  if (!found) return std::unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<Commit::Setting>> settings(Database& db, const std::string& prefix) {
  const std::string end = behind(prefix);
  return all(db,
             db.cached("SELECT name, json FROM settings WHERE name >= ?1 AND name < ?2 ORDER BY name")
                 .bind(1, prefix)
                 .bind(2, end),
             [](const Statement& row) { return Commit::Setting{std::string(row.text(0)), std::string(row.text(1))}; });
}

}  // namespace errand::sqlite
