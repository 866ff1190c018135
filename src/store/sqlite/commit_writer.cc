#include "store/sqlite/commit_writer.h"

#include <algorithm>
#include <sqlite3.h>

#include "store/sqlite/rows.h"
#include "store/sqlite/seal.h"
#include "task/json_in.h"

namespace errand::sqlite {
namespace {

constexpr size_t known_max = 16'384;
// So many rows are deleted together with their task; more are left to `sweep`.
constexpr int64_t rows_at_once = 256;

Error store_failed() { return {Code::internal, "The store failed: nothing was stored.", "io"}; }

}  // namespace

Result<Kept> read_kept(Database& db) {
  Use row(
      db.cached("SELECT last_pos, last_task, last_session, created_high, clock_back, pending, running, completed, "
                "failed, cancelled, resumed FROM meta WHERE one = 1"));
  const int code = row->step();
  if (code == SQLITE_DONE) return std::unexpected(damaged("table (meta)"));
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read it"));
  Kept kept;
  kept.last_pos = row->integer(0);
  kept.last_task = row->integer(1);
  kept.last_session = row->integer(2);
  kept.created_high = row->integer(3);
  kept.clock_back = row->integer(4);
  for (int i = 0; i < task_state_count; ++i) kept.counts.by_state[i] = row->integer(5 + i);
  return kept;
}

Result<CommitWriter> CommitWriter::open(Database& db) {
  CommitWriter writer(db);
  const Result<Kept> kept = read_kept(db);
  if (!kept) return std::unexpected(kept.error());
  writer.kept_ = *kept;
  const Result<int64_t> garbage = db.number("SELECT EXISTS (SELECT 1 FROM garbage)");
  if (!garbage) return std::unexpected(garbage.error());
  writer.has_garbage_ = *garbage != 0;
  if (const Status read = writer.read_marks(); !read) return std::unexpected(read.error());

  const std::pair<Statement&, const char*> statements[] = {
      {writer.insert_task_, insert_task_sql},
      {writer.update_task_, update_task_sql},
      {writer.update_same_state_, update_task_same_state_sql},
      {writer.insert_launch_, insert_launch_sql},
      {writer.insert_event_, insert_event_sql},
      {writer.put_message_, put_message_sql},
      {writer.insert_session_,
       "INSERT INTO sessions (n, id, task, origin, title, created_at, last_message, last_notice) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
      {writer.update_session_, "UPDATE sessions SET last_message = ?2, last_notice = ?3 WHERE n = ?1"},
      {writer.find_task_,
       "SELECT n, version, last_seq, state, phase, expires_at, result_sum, batch FROM tasks WHERE id = ?1"},
      {writer.find_tombstone_, "SELECT pos, task, parent, why, at FROM tombstones WHERE task = ?1"},
      {writer.find_session_, "SELECT n, last_message, last_notice FROM sessions WHERE id = ?1"},
      {writer.find_message_, "SELECT m, from_seq FROM messages WHERE id = ?1"},
      {writer.keep_,
       "UPDATE meta SET last_pos = ?1, last_task = ?2, last_session = ?3, created_high = ?4, clock_back = ?5, "
       "pending = ?6, running = ?7, completed = ?8, failed = ?9, cancelled = ?10, resumed = ?11 WHERE one = 1"},
  };
  for (const auto& [statement, sql] : statements) {
    Result<Statement> prepared = db.prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    statement = std::move(*prepared);
  }
  return writer;
}

Status CommitWriter::read_marks() {
  const std::pair<HighMark&, const char*> marks[] = {
      {task_mark_, "SELECT max(id) FROM tasks WHERE id < 'task_~'"},
      {task_mark_, "SELECT max(task) FROM tombstones WHERE task < 'task_~'"},
      {session_mark_, "SELECT max(id) FROM sessions WHERE id < 'ses_~'"},
      {message_mark_, "SELECT max(id) FROM messages WHERE id < 'msg_~'"}};
  for (const auto& [mark, sql] : marks) {
    Use highest(db_->cached(sql));
    if (const int code = highest->step(); code != SQLITE_ROW) return std::unexpected(db_->error(code, "read it"));
    mark.note(highest->text(0));
  }
  return {};
}

bool CommitWriter::ok(int code) {
  if (code == SQLITE_OK) return true;
  if (failure_ == 0) failure_ = code;
  return false;
}

bool CommitWriter::row(Statement& statement) {
  const int code = statement.step();
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) ok(code);
  return false;
}

void CommitWriter::begin() {
  draft_ = kept_;
  batches_.clear();
  removed_.clear();
  failure_ = 0;
}

void CommitWriter::finish() {
  for (const auto& [id, difference] : batches_) {
    Statement& put = db_->cached(
        "INSERT INTO batches (id, pending, running, completed, failed, cancelled, resumed) VALUES (?1, ?2, ?3, ?4, ?5, "
        "?6, ?7) ON CONFLICT (id) DO UPDATE SET pending = pending + ?2, running = running + ?3, "
        "completed = completed + ?4, failed = failed + ?5, cancelled = cancelled + ?6, resumed = resumed + ?7");
    put.bind(1, id);
    for (int i = 0; i < task_state_count; ++i) put.bind(2 + i, difference[static_cast<size_t>(i)]);
    if (!ok(put.run())) return;
    Statement& drop = db_->cached(
        "DELETE FROM batches WHERE id = ?1 AND pending + running + completed + failed + cancelled + resumed <= 0");
    if (!ok(drop.bind(1, id).run())) return;
  }
  keep_.bind(1, draft_.last_pos).bind(2, draft_.last_task).bind(3, draft_.last_session);
  keep_.bind(4, draft_.created_high).bind(5, draft_.clock_back);
  for (int i = 0; i < task_state_count; ++i) keep_.bind(6 + i, draft_.counts.by_state[i]);
  ok(keep_.run());
}

void CommitWriter::committed() {
  kept_ = draft_;
  if (tasks_.size() > known_max) tasks_.clear();
  if (sessions_.size() > known_max) sessions_.clear();
}

void CommitWriter::rolled_back() {
  tasks_.clear();
  sessions_.clear();
  removed_.clear();
}

void CommitWriter::count(TaskState state, const std::string& batch, int64_t difference) {
  draft_.counts.by_state[static_cast<int>(state)] += difference;
  if (!batch.empty()) batches_[batch][static_cast<size_t>(state)] += difference;
}

CommitWriter::KnownTask* CommitWriter::find_task(const TaskId& id) {
  const auto known = tasks_.find(id.value);
  if (known != tasks_.end()) return &known->second;
  if (task_mark_.below(id.value)) return nullptr;
  Use found(find_task_.bind(1, id.value));
  if (!row(*found)) return nullptr;
  KnownTask task;
  task.number = found->integer(0);
  task.version = found->integer(1);
  task.last_seq = found->integer(2);
  task.state = static_cast<TaskState>(std::clamp<int64_t>(found->integer(3), 0, task_state_count - 1));
  task.phase = static_cast<TurnPhase>(std::clamp<int64_t>(found->integer(4), 0, 2));
  task.expires_at = found->time(5);
  if (!found->is_null(6)) task.result_sum = found->integer(6);
  task.batch = found->text(7);
  return &tasks_.emplace(id.value, std::move(task)).first->second;
}

bool CommitWriter::is_tombstone(const TaskId& id, Tombstone& out) {
  if (task_mark_.below(id.value)) return false;
  Use found(find_tombstone_.bind(1, id.value));
  if (!row(*found)) return false;
  out = read_tombstone(*found);
  return true;
}

Status CommitWriter::check_task(const Commit& commit, KnownTask*& known) {
  if (const Status shape = check_commit(commit); !shape) return shape;
  if (commit.key) {
    Use found(db_->cached("SELECT 1 FROM keys WHERE key = ?1").bind(1, commit.key->key));
    if (row(*found)) return std::unexpected(known_key(commit.key->key));
  }
  if (commit.task_id.empty()) return {};
  known = find_task(commit.task_id);
  Tombstone gone;
  if (!known && is_tombstone(commit.task_id, gone)) return std::unexpected(unknown_task(commit.task_id, &gone));
  if (commit.before_version == 0) {
    if (known) return std::unexpected(already_there(commit.task_id));
  } else {
    if (!known) return std::unexpected(unknown_task(commit.task_id, nullptr));
    if (known->version != commit.before_version)
      return std::unexpected(version_conflict(commit.task_id, known->version, commit.before_version));
  }
  return check_events(commit, known ? known->last_seq : 0);
}

Result<Committed> CommitWriter::apply(const Commit& commit) {
  KnownTask* known = nullptr;
  if (const Status allowed = check_task(commit, known); !allowed) return std::unexpected(allowed.error());
  Plan planned;
  if (const Status allowed = plan(commit, known ? known->last_seq : 0, planned); !allowed)
    return std::unexpected(allowed.error());
  if (failure_ != 0) return std::unexpected(store_failed());

  Committed out;
  if (commit.after) {
    if (known) {
      update_task(*commit.after, *known);
      if (commit.edited) rewrite_launch(*commit.after, known->number);
    } else {
      known = &tasks_[commit.task_id.value];
      insert_task(commit, *known);
    }
    store_events(commit, known->number, out);
  }
  store_sessions(commit, planned);
  store_messages(commit, planned, out);
  store_notices(commit, planned, out);
  take_notices(commit);
  store_usage(commit);
  if (commit.key) {
    ok(db_->cached("INSERT INTO keys (key, fingerprint, task) VALUES (?1, ?2, ?3)")
           .bind(1, commit.key->key)
           .bind(2, commit.key->fingerprint)
           .bind(3, commit.key->task_id.value)
           .run());
  }
  for (const Commit::Setting& setting : commit.settings) {
    Statement& put = setting.json.empty()
                         ? db_->cached("DELETE FROM settings WHERE name = ?1")
                         : db_->cached(
                                  "INSERT INTO settings (name, json) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE "
                                  "SET json = ?2")
                               .bind(2, setting.json);
    ok(put.bind(1, setting.name).run());
  }
  if (commit.remove) remove_task(commit, *known, out);
  if (commit.forget) forget(*commit.forget, out);
  if (commit.remove_session) remove_session(*commit.remove_session);
  if (failure_ != 0) return std::unexpected(store_failed());
  return out;
}

void CommitWriter::insert_task(const Commit& commit, KnownTask& known) {
  const Task& task = *commit.after;
  draft_.created_high = std::max(draft_.created_high, task.created_at.ms);
  draft_.clock_back = std::max(draft_.clock_back, draft_.created_high - task.created_at.ms);
  task_mark_.note(task.id.value);
  known.number = ++draft_.last_task;
  known.version = task.version;
  known.last_seq = task.last_seq;
  known.state = task.state;
  known.phase = task.phase;
  known.expires_at = task.expires_at;
  known.batch = task.launch.batch_id.value;
  count(task.state, known.batch, +1);

  const TaskTexts texts(task);
  bind_insert(insert_task_, known.number, task, texts, Time{draft_.created_high});
  if (!ok(insert_task_.run())) return;
  const std::string launch = encode_launch(task.launch);
  bind_launch(insert_launch_, known.number, task, launch);
  if (!ok(insert_launch_.run())) return;
  store_labels(task, known.number);
  store_result(task, known);
}

void CommitWriter::store_labels(const Task& task, int64_t number) {
  for (const auto& [key, value] : task.launch.labels) {
    Statement& put = db_->cached("INSERT INTO labels (key, value, n) VALUES (?1, ?2, ?3)");
    if (!ok(put.bind(1, key).bind(2, value).bind(3, number).run())) return;
  }
}

void CommitWriter::drop_labels(const Launch& launch, int64_t number) {
  for (const auto& [key, value] : launch.labels) {
    Statement& drop = db_->cached("DELETE FROM labels WHERE key = ?1 AND value = ?2 AND n = ?3");
    ok(drop.bind(1, key).bind(2, value).bind(3, number).run());
  }
}

void CommitWriter::rewrite_launch(const Task& after, int64_t number) {
  {
    Use found(db_->cached("SELECT launch FROM launches WHERE n = ?1").bind(1, number));
    if (!row(*found)) return;
    if (const Result<Launch> before = decode_launch(found->text(0))) drop_labels(*before, number);
  }
  const std::string launch = encode_launch(after.launch);
  Statement& put = db_->cached(update_launch_sql);
  bind_launch(put, number, after, launch);
  if (!ok(put.run())) return;
  store_labels(after, number);
}

void CommitWriter::store_usage(const Commit& commit) {
  for (const UsageRow& used : commit.usage) {
    Statement& put = db_->cached(insert_usage_sql);
    bind_usage(put, used);
    if (!ok(put.run())) return;
  }
}

void CommitWriter::update_task(const Task& after, KnownTask& known) {
  const bool same = known.state == after.state && known.phase == after.phase && known.expires_at == after.expires_at;
  const TaskTexts texts(after);
  Statement& update = same ? update_same_state_ : update_task_;
  bind_update(update, same ? TaskUpdate::same_state : TaskUpdate::all, known.number, after, texts);
  if (!ok(update.run())) return;
  if (known.state != after.state) {
    count(known.state, known.batch, -1);
    count(after.state, known.batch, +1);
  }
  known.version = after.version;
  known.last_seq = after.last_seq;
  known.state = after.state;
  known.phase = after.phase;
  known.expires_at = after.expires_at;
  store_result(after, known);
}

void CommitWriter::store_result(const Task& after, KnownTask& known) {
  const std::optional<int64_t> sum = after.result ? std::optional(seal_of(*after.result)) : std::nullopt;
  if (sum == known.result_sum) return;
  if (known.result_sum) {
    if (!ok(db_->cached("DELETE FROM results WHERE n = ?1").bind(1, known.number).run())) return;
  }
  if (sum) {
    Statement& put = db_->cached("INSERT INTO results (n, result) VALUES (?1, ?2)");
    if (!ok(put.bind(1, known.number).bind(2, *after.result).run())) return;
  }
  known.result_sum = sum;
}

void CommitWriter::store_events(const Commit& commit, int64_t number, Committed& out) {
  if (failure_ != 0) return;
  if (!commit.events.empty()) out.first_pos = draft_.last_pos + 1;
  for (const Event& event : commit.events) {
    bind_event(insert_event_, ++draft_.last_pos, number, event);
    if (!ok(insert_event_.run())) return;
  }
}

void CommitWriter::remove_task(const Commit& commit, KnownTask known, Committed& out) {
  RemovedText text;
  text.number = known.number;
  SessionId session;
  {
    Use found(db_->cached("SELECT session, title, launch FROM launches WHERE n = ?1").bind(1, known.number));
    if (row(*found)) {
      session = SessionId(found->text(0));
      text.title = found->text(1);
      text.launch = found->text(2);
    }
  }
  {
    Use found(db_->cached("SELECT r, result FROM results WHERE n = ?1").bind(1, known.number));
    if (row(*found)) {
      text.result_number = found->integer(0);
      text.result = found->text(1);
    }
  }
  SessionId parent;
  if (const Result<Launch> launch = decode_launch(text.launch)) {
    parent = launch->parent_session_id;
    drop_labels(*launch, known.number);
    text.title = title_of(*launch);  // Of a renamed task: what the search index has of it.
  }
  count(known.state, known.batch, -1);
  for (const char* sql :
       {"DELETE FROM tasks WHERE n = ?1", "DELETE FROM launches WHERE n = ?1", "DELETE FROM results WHERE n = ?1"})
    ok(db_->cached(sql).bind(1, known.number).run());
  remove_events(known.number, known.last_seq);
  remove_session(session);
  // Nobody is going to take these any more.
  ok(db_->cached("DELETE FROM notices WHERE task = ?1 AND (taken_at IS NOT NULL OR session IS NULL)")
         .bind(1, commit.task_id.value)
         .run());
  out.first_pos = ++draft_.last_pos;
  Statement& put = db_->cached("INSERT INTO tombstones (pos, task, parent, why, at) VALUES (?1, ?2, ?3, ?4, ?5)");
  put.bind(1, out.first_pos).bind(2, commit.task_id.value).bind_text_or_null(3, parent.value);
  ok(put.bind(4, static_cast<int>(*commit.remove)).bind(5, commit.now.ms).run());
  tasks_.erase(commit.task_id.value);
  removed_.push_back(std::move(text));
}

// They lie in the order in which they were made, which is that of their times but for a clock that was set.
void CommitWriter::forget(const Commit::Forget& what, Committed& out) {
  int64_t beyond = 0;  // The newest of those that are too many.
  {
    Use found(db_->cached("SELECT pos FROM tombstones ORDER BY pos DESC LIMIT 1 OFFSET ?1").bind(1, what.most));
    if (row(*found)) beyond = found->integer(0);
  }
  std::vector<std::pair<int64_t, std::string>> old;
  {
    Use found(
        db_->cached("SELECT pos, task, at FROM tombstones ORDER BY pos LIMIT ?1").bind(1, int64_t{what.rows} + 1));
    while (row(*found)) {
      out.oldest_tombstone = found->time(2);
      if ((out.oldest_tombstone >= what.before && found->integer(0) > beyond) || std::ssize(old) == what.rows) break;
      old.emplace_back(found->integer(0), found->text(1));
      out.oldest_tombstone = Time{};
    }
  }
  forget_usage(what, out);
  if (old.empty() || failure_ != 0) return;
  for (const auto& [pos, task] : old)
    if (!ok(db_->cached("DELETE FROM keys WHERE task = ?1").bind(1, task).run())) return;
  const int64_t last = old.back().first;
  ok(db_->cached("DELETE FROM tombstones WHERE pos <= ?1").bind(1, last).run());
  ok(db_->cached("UPDATE meta SET forgotten_pos = ?1 WHERE one = 1").bind(1, last).run());
  out.forgotten = std::ssize(old);
}

void CommitWriter::forget_usage(const Commit::Forget& what, Committed& out) {
  if (!what.usage_before || failure_ != 0) return;
  Statement& drop =
      db_->cached("DELETE FROM usage WHERE u IN (SELECT u FROM usage WHERE at < ?1 ORDER BY at LIMIT ?2)");
  if (ok(drop.bind(1, what.usage_before.ms).bind(2, what.rows).run())) out.usage_forgotten = db_->changes();
}

void CommitWriter::remove_events(int64_t task, int64_t how_many) {
  if (how_many > rows_at_once) {
    has_garbage_ = true;
    ok(db_->cached("INSERT INTO garbage (task) VALUES (?1)").bind(1, task).run());
  } else {
    ok(db_->cached("DELETE FROM events WHERE task = ?1").bind(1, task).run());
  }
}

void CommitWriter::remove_messages(int64_t session, int64_t how_many) {
  if (how_many > rows_at_once) {
    has_garbage_ = true;
    ok(db_->cached("INSERT INTO garbage (session) VALUES (?1)").bind(1, session).run());
  } else {
    ok(db_->cached("DELETE FROM messages WHERE m BETWEEN ?1 AND ?2")
           .bind(1, message_key(session, 0))
           .bind(2, message_key(session + 1, 0) - 1)
           .run());
  }
}

void CommitWriter::sweep(int rows) {
  int64_t garbage = 0;
  {
    Use found(db_->cached("SELECT g, task, session FROM garbage ORDER BY g LIMIT 1"));
    if (!row(*found)) {
      has_garbage_ = false;
      return;
    }
    garbage = found->integer(0);
    if (!found->is_null(1)) {
      Statement& drop =
          db_->cached("DELETE FROM events WHERE pos IN (SELECT pos FROM events WHERE task = ?1 ORDER BY seq LIMIT ?2)");
      if (!ok(drop.bind(1, found->integer(1)).bind(2, rows).run())) return;
    } else {
      const int64_t session = found->integer(2);
      Statement& drop = db_->cached(
          "DELETE FROM messages WHERE m IN (SELECT m FROM messages WHERE m BETWEEN ?1 AND ?2 ORDER BY m LIMIT ?3)");
      drop.bind(1, message_key(session, 0)).bind(2, message_key(session + 1, 0) - 1).bind(3, rows);
      if (!ok(drop.run())) return;
    }
  }
  if (db_->changes() < rows) ok(db_->cached("DELETE FROM garbage WHERE g = ?1").bind(1, garbage).run());
}

}  // namespace errand::sqlite
