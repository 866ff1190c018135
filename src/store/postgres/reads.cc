#include "store/postgres/reads.h"

#include <limits>

#include <fmt/format.h>

#include "store/postgres/commit_writer.h"
#include "store/postgres/rows.h"
#include "store/rules.h"
#include "store/usage_tally.h"

namespace errand::postgres {
namespace {

constexpr int64_t page_rows = 20'000;  // Of what may be long: so many rows are in memory twice.

// Behind every text that begins with `prefix`: no UTF-8 has a byte 0xFF.
std::string behind(const std::string& prefix) { return prefix + '\xFF'; }

// All rows, each made a value (or a Result of one) by `read`.
template <class Read>
auto all(const Rows& rows, Read read) {
  using Made = std::invoke_result_t<Read, const Row&>;
  constexpr bool may_fail = requires(Made made) { made.error(); };
  const auto value_of = [](Made made) {
    if constexpr (may_fail)
      return std::move(*made);
    else
      return made;
  };
  using Value = decltype(value_of(std::declval<Made>()));
  Result<std::vector<Value>> out;
  out->reserve(static_cast<size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) {
    Made made = read(Row{rows, i});
    if constexpr (may_fail) {
      if (!made) return out = std::unexpected(made.error());
    }
    out->push_back(value_of(std::move(made)));
  }
  return out;
}

template <class Read>
auto all(Connection& db, std::string_view sql, const Values& values, Read read) {
  const Result<Rows> rows = db.run(sql, values);
  using Out = decltype(all(*rows, read));
  return rows ? all(*rows, read) : Out(std::unexpected(rows.error()));
}

// The first row; or `missing`.
template <class Read>
auto first(Connection& db, std::string_view sql, const Values& values, Read read, const Error& missing) {
  auto rows = all(db, sql, values, read);
  using Value = typename std::remove_reference_t<decltype(*rows)>::value_type;
  Result<Value> out = std::unexpected(missing);
  if (!rows)
    out = std::unexpected(rows.error());
  else if (!rows->empty())
    out = std::move(rows->front());
  return out;
}

TaskId read_id(const Row& row) { return TaskId(row.text(0)); }

constexpr const char* tombstone_of_task = "SELECT pos, task, parent, why, at FROM tombstones WHERE task = $1";

Error unknown(const TaskId& id, const Rows& tombstones) {
  if (tombstones.count() == 0) return unknown_task(id, nullptr);
  const Tombstone gone = read_tombstone({tombstones, 0});
  return unknown_task(id, &gone);
}

}  // namespace

Result<Task> get_task(Connection& db, const TaskId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM {} WHERE t.id = $1", task_columns, task_tables);
  // In this order: a task that goes in between is found by its tombstone.
  db.send(sql, Values().add(id.value));
  db.send(tombstone_of_task, Values().add(id.value));
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  if (answers->front().count() == 0) return std::unexpected(unknown(id, answers->back()));
  return read_task({answers->front(), 0});
}

Result<std::vector<TaskId>> find_prefix(Connection& db, const std::string& prefix, int limit) {
  return all(db, "SELECT id FROM tasks WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
             Values().add(prefix).add(behind(prefix)).add(limit), read_id);
}

Result<std::vector<Task>> working(Connection& db) {
  static const std::string sql =
      fmt::format("SELECT {} FROM {} WHERE t.phase = 1 ORDER BY t.n", task_columns, task_tables);
  return all(db, sql, {}, read_task);
}

Result<std::vector<QueuedTask>> queued(Connection& db) {
  std::vector<QueuedTask> out;
  for (int64_t after = 0;;) {
    const Result<Rows> rows = db.run(
        "SELECT id, agent, model, batch, priority, queued_at, over_limit, n FROM tasks WHERE phase = 0 AND n > $1 "
        "ORDER BY n LIMIT $2",
        Values().add(after).add(page_rows));
    if (!rows) return std::unexpected(rows.error());
    for (int i = 0; i < rows->count(); ++i) {
      const Row row{*rows, i};
      QueuedTask& task = out.emplace_back();
      task.id = TaskId(row.text(0));
      task.agent_id = row.text(1);
      task.model = row.text(2);
      task.batch_id = BatchId(row.text(3));
      task.priority = static_cast<int>(row.integer(4));
      task.queued_at = row.time(5);
      task.over_limit = row.integer(6) != 0;
      after = row.integer(7);
    }
    if (rows->count() < page_rows) return out;
  }
}

// At rest: completed, failed, cancelled.
Result<std::vector<TaskId>> expired(Connection& db, Time now, int limit) {
  return all(db,
             "SELECT id FROM tasks WHERE expires_at IS NOT NULL AND owed = 0 AND expires_at <= $1 AND state IN (2, 3, "
             "4) ORDER BY expires_at, n LIMIT $2",
             Values().add(now.ms).add(limit), read_id);
}

Result<Time> next_expiry(Connection& db) {
  const Result<Rows> rows = db.run(
      "SELECT expires_at FROM tasks WHERE expires_at IS NOT NULL AND owed = 0 AND state IN (2, 3, 4) "
      "ORDER BY expires_at, n LIMIT 1");
  if (!rows) return std::unexpected(rows.error());
  return rows->count() == 0 ? Time{} : rows->time(0, 0);
}

Result<BatchCounts> batch_counts(Connection& db, const BatchId& id) {
  const Result<Rows> rows =
      db.run("SELECT pending, running, completed, failed, cancelled, resumed FROM batches WHERE id = $1",
             Values().add(id.value));
  if (!rows) return std::unexpected(rows.error());
  BatchCounts counts;
  if (rows->count() == 1)
    for (int i = 0; i < task_state_count; ++i) counts.by_state[i] = rows->integer(0, i);
  return counts;
}

Result<BatchPage> batches(Connection& db, const std::string& cursor, int limit) {
  if (const Status ok = check_page({.limit = limit}); !ok) return std::unexpected(ok.error());
  const Result<Rows> rows = db.run(
      "SELECT b.id, f.title, f.created_at, b.pending, b.running, b.completed, b.failed, b.cancelled, b.resumed FROM "
      "batches b LEFT JOIN LATERAL (SELECT l.title, t.created_at FROM tasks t JOIN launches l ON l.n = t.n WHERE "
      "t.batch = b.id ORDER BY t.n LIMIT 1) f ON true WHERE $1::bytea IS NULL OR b.id < $1::bytea ORDER BY b.id DESC "
      "LIMIT $2",
      Values().add_or_null(cursor).add(int64_t{limit} + 1));
  if (!rows) return std::unexpected(rows.error());
  BatchPage out;
  for (int i = 0; i < rows->count(); ++i) {
    const Row row{*rows, i};
    if (i == limit) {
      out.next_cursor = out.batches.back().id.value;
      break;
    }
    BatchInfo& info = out.batches.emplace_back();
    info.id = BatchId(row.text(0));
    info.title = row.text(1);
    info.created_at = row.time(2);
    for (int state = 0; state < task_state_count; ++state) info.counts.by_state[state] = row.integer(3 + state);
  }
  return out;
}

Result<UsageReport> usage(Connection& db, const UsageQuery& query) {
  static const std::string sql =
      fmt::format("SELECT {} FROM usage WHERE (at, u) > ($1, $2) AND at < $3 ORDER BY at, u LIMIT $4", usage_columns);
  UsageTally tally(query);
  int64_t at = query.from.ms, after = -1;
  for (;;) {
    const Result<Rows> rows = db.run(
        sql,
        Values().add(at).add(after).add(query.to ? query.to.ms : std::numeric_limits<int64_t>::max()).add(page_rows));
    if (!rows) return std::unexpected(rows.error());
    for (int i = 0; i < rows->count(); ++i) {
      const Result<UsageRow> used = read_usage({*rows, i});
      if (!used) return std::unexpected(used.error());
      tally.add(*used);
      after = rows->integer(i, 0);
      at = rows->integer(i, 1);
    }
    if (rows->count() < page_rows) return std::move(tally).report();
  }
}

Result<std::vector<TaskId>> tasks_of_parent(Connection& db, const SessionId& parent) {
  return all(db, "SELECT id FROM tasks WHERE parent = $1 ORDER BY n", Values().add(parent.value), read_id);
}

Result<std::vector<Event>> events_after(Connection& db, const TaskId& id, int64_t seq, int limit) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM tasks t JOIN events e ON e.task = t.n WHERE t.id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3",
      event_columns);
  db.send(one_moment);
  db.send(sql, Values().add(id.value).add(seq).add(limit));
  db.send("SELECT n FROM tasks WHERE id = $1", Values().add(id.value));
  db.send(tombstone_of_task, Values().add(id.value));
  db.send("COMMIT");
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  if ((*answers)[2].count() == 0) return std::unexpected(unknown(id, (*answers)[3]));
  return all((*answers)[1], read_event);
}

Result<std::vector<Change>> changes_after(Connection& db, int64_t pos, int limit) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM events e JOIN tasks t ON t.n = e.task WHERE e.pos > $1 ORDER BY e.pos LIMIT $2", event_columns);
  db.send(one_moment);
  db.send("SELECT last_pos, forgotten_pos FROM meta WHERE one = 1");
  db.send(sql, Values().add(pos).add(limit));
  db.send("SELECT pos, task, parent, why, at FROM tombstones WHERE pos > $1 ORDER BY pos LIMIT $2",
          Values().add(pos).add(limit));
  db.send("COMMIT");
  const Result<std::vector<Rows>> answers = db.flush();
  if (!answers) return std::unexpected(answers.error());
  const Rows& meta = (*answers)[1];
  if (meta.count() != 1) return std::unexpected(damaged("table (meta)"));
  if (pos > meta.integer(0, 0) || (pos > 0 && pos < meta.integer(0, 1))) return std::unexpected(history_gone());
  auto events = all((*answers)[2], read_event);
  if (!events) return std::unexpected(events.error());
  auto gone = all((*answers)[3], read_tombstone);
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

Result<Session> get_session(Connection& db, const SessionId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM sessions WHERE id = $1", session_columns);
  return first(db, sql, Values().add(id.value), read_session, unknown_session(id));
}

Result<std::vector<Notice>> notices(Connection& db, const SessionId& id, int64_t after, int limit) {
  static const std::string sql =
      fmt::format("SELECT {} FROM notices WHERE session = $1 AND seq > $2 AND taken_at IS NULL ORDER BY seq LIMIT $3",
                  notice_columns);
  return all(db, sql, Values().add(id.value).add(after).add(limit), read_notice);
}

Result<Notice> get_notice(Connection& db, const NoticeId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM notices WHERE id = $1", notice_columns);
  return first(db, sql, Values().add(id.value), read_notice, unknown_notice(id));
}

Result<std::vector<Notice>> notices_of_task(Connection& db, const TaskId& id) {
  static const std::string sql = fmt::format("SELECT {} FROM notices WHERE task = $1 ORDER BY id", notice_columns);
  return all(db, sql, Values().add(id.value), read_notice);
}

Result<std::optional<Commit::Key>> find_key(Connection& db, const std::string& key) {
  auto found = all(db, "SELECT key, fingerprint, task FROM keys WHERE key = $1", Values().add(key), [](const Row& row) {
    return Commit::Key{std::string(row.text(0)), std::string(row.text(1)), TaskId(row.text(2))};
  });
  if (!found) return std::unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<Commit::Setting>> settings(Connection& db, const std::string& prefix) {
  return all(db, "SELECT name, json FROM settings WHERE name >= $1 AND name < $2 ORDER BY name",
             Values().add(prefix).add(behind(prefix)),
             [](const Row& row) { return Commit::Setting{std::string(row.text(0)), std::string(row.text(1))}; });
}

}  // namespace errand::postgres
