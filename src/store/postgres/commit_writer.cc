#include "store/postgres/commit_writer.h"

#include <algorithm>

#include "store/postgres/rows.h"
#include "task/json_in.h"

namespace errand::postgres {
namespace {

// So many rows are deleted together with their task; more are left to the housekeeper.
constexpr int64_t rows_at_once = 256;
// Events of one statement, so that no message to the server is very long.
constexpr size_t events_at_once = 1'000;
constexpr size_t event_bytes_at_once = 1 << 20;

TaskState state_of(int64_t number) {
  return static_cast<TaskState>(std::clamp<int64_t>(number, 0, task_state_count - 1));
}

}  // namespace

const char* const kept_columns =
    "last_pos, last_task, last_session, pending, running, completed, failed, cancelled, resumed";

Kept read_kept(const Row& row) {
  Kept kept;
  kept.last_pos = row.integer(0);
  kept.last_task = row.integer(1);
  kept.last_session = row.integer(2);
  for (int i = 0; i < task_state_count; ++i) kept.counts.by_state[i] = row.integer(3 + i);
  return kept;
}

void CommitWriter::begin(const Kept& kept) { kept_ = kept; }

// --- what is there

void CommitWriter::look_up(std::span<const Commit* const> commits) {
  std::vector<std::string_view> tasks, removed, sessions, messages, notices, keys;
  for (const Commit* const commit : commits) {
    if (commit->task_id) tasks.push_back(commit->task_id.value);
    if (commit->remove) removed.push_back(commit->task_id.value);
    if (commit->session) sessions.push_back(commit->session->id.value);
    if (commit->remove_session) sessions.push_back(commit->remove_session->value);
    for (const Message& message : commit->messages) {
      sessions.push_back(message.session_id.value);
      messages.push_back(message.id.value);
    }
    for (const Notice& notice : commit->notices) {
      notices.push_back(notice.id.value);
      if (notice.session_id) sessions.push_back(notice.session_id.value);
    }
    if (commit->key) keys.push_back(commit->key->key);
  }
  tasks_.clear();
  tombstones_.clear();
  sessions_.clear();
  messages_.clear();
  notices_.clear();
  keys_.clear();
  const auto ask = [&](std::string_view sql, const std::vector<std::string_view>& ids) {
    db_.send(sql, Values().add_array(ids));
  };
  ask("SELECT id, n, version, last_seq, state, result_sum, batch, parent, session FROM tasks "
      "WHERE id = ANY($1::bytea[])",
      tasks);
  ask("SELECT pos, task, parent, why, at FROM tombstones WHERE task = ANY($1::bytea[])", tasks);
  db_.send(
      "SELECT id, n, last_message, last_notice FROM sessions WHERE id = ANY($1::bytea[]) OR id = ANY(ARRAY(SELECT "
      "session FROM tasks WHERE id = ANY($2::bytea[])))",
      Values().add_array(sessions).add_array(removed));
  ask("SELECT id, session, seq, from_seq FROM messages WHERE id = ANY($1::bytea[])", messages);
  ask("SELECT id FROM notices WHERE id = ANY($1::bytea[])", notices);
  ask("SELECT key FROM keys WHERE key = ANY($1::bytea[])", keys);
}

void CommitWriter::take_answers(const std::vector<Rows>& answers, size_t first) {
  const Rows* rows = &answers[first];
  for (int i = 0; i < rows->count(); ++i) {
    const Row row{*rows, i};
    KnownTask task;
    task.number = row.integer(1);
    task.version = row.integer(2);
    task.last_seq = row.integer(3);
    task.state = state_of(row.integer(4));
    if (!row.is_null(5)) task.result_sum = row.integer(5);
    task.batch = row.text(6);
    task.parent = row.text(7);
    task.session = row.text(8);
    tasks_.emplace(row.text(0), std::move(task));
  }
  rows = &answers[first + 1];
  for (int i = 0; i < rows->count(); ++i) {
    Tombstone gone = read_tombstone({*rows, i});
    std::string id = gone.task_id.value;
    tombstones_.emplace(std::move(id), std::move(gone));
  }
  rows = &answers[first + 2];
  for (int i = 0; i < rows->count(); ++i)
    sessions_.emplace(rows->text(i, 0), KnownSession{rows->integer(i, 1), rows->integer(i, 2), rows->integer(i, 3)});
  rows = &answers[first + 3];
  for (int i = 0; i < rows->count(); ++i)
    messages_.emplace(rows->text(i, 0), KnownMessage{rows->integer(i, 1), rows->integer(i, 2), rows->integer(i, 3)});
  rows = &answers[first + 4];
  for (int i = 0; i < rows->count(); ++i) notices_.emplace(rows->text(i, 0));
  rows = &answers[first + 5];
  for (int i = 0; i < rows->count(); ++i) keys_.emplace(rows->text(i, 0));
}

// --- tasks

void CommitWriter::count(TaskState state, const std::string& batch, int64_t difference) {
  kept_.counts.by_state[static_cast<int>(state)] += difference;
  if (!batch.empty()) batches_[batch][static_cast<size_t>(state)] += difference;
}

CommitWriter::KnownTask* CommitWriter::find_task(const TaskId& id) {
  const auto known = tasks_.find(id.value);
  return known == tasks_.end() ? nullptr : &known->second;
}

Status CommitWriter::check_task(const Commit& commit, KnownTask*& known) {
  if (const Status shape = check_commit(commit); !shape) return shape;
  if (commit.key && keys_.contains(commit.key->key)) return std::unexpected(known_key(commit.key->key));
  if (commit.task_id.empty()) return {};
  known = find_task(commit.task_id);
  const auto gone = tombstones_.find(commit.task_id.value);
  if (!known && gone != tombstones_.end()) return std::unexpected(unknown_task(commit.task_id, &gone->second));
  if (commit.before_version == 0) {
    if (known) return std::unexpected(already_there(commit.task_id));
  } else {
    if (!known) return std::unexpected(unknown_task(commit.task_id, nullptr));
    if (known->version != commit.before_version)
      return std::unexpected(version_conflict(commit.task_id, known->version, commit.before_version));
  }
  return check_events(commit, known ? known->last_seq : 0);
}

Status CommitWriter::apply(const Commit& commit, Committed& out) {
  KnownTask* known = nullptr;
  if (const Status allowed = check_task(commit, known); !allowed) return allowed;
  Plan planned;
  if (const Status allowed = plan(commit, known ? known->last_seq : 0, planned); !allowed) return allowed;

  if (commit.after) {
    if (known) {
      update_task(commit, *known);
    } else {
      known = &tasks_[commit.task_id.value];
      insert_task(*commit.after, *known);
    }
    store_events(commit, known->number, out);
  }
  store_sessions(commit, planned);
  store_messages(commit, planned, out);
  store_notices(commit, planned, out);
  take_notices(commit);
  store_rest(commit);
  if (commit.remove) remove_task(commit, *known, out);
  if (commit.forget) forget(*commit.forget, out);
  if (commit.remove_session) remove_session(*commit.remove_session);
  return {};
}

void CommitWriter::insert_task(const Task& task, KnownTask& known) {
  known.number = ++kept_.last_task;
  known.version = task.version;
  known.last_seq = task.last_seq;
  known.state = task.state;
  known.batch = task.launch.batch_id.value;
  known.parent = task.launch.parent_session_id.value;
  known.session = task.session_id.value;
  count(task.state, known.batch, +1);
  db_.send(insert_task_sql, inserted_task(known.number, task));
  db_.send("INSERT INTO launches (n, title, launch) VALUES ($1, $2, $3)",
           Values().add(known.number).add(task.title).add(encode_launch(task.launch)));
  store_labels(task, known.number);
  store_result(task, known);
  unindexed_[known.number] = task.version;
}

void CommitWriter::store_labels(const Task& task, int64_t number) {
  for (const auto& [key, value] : task.launch.labels)
    db_.send("INSERT INTO labels (key, value, n) VALUES ($1, $2, $3)", Values().add(key).add(value).add(number));
}

void CommitWriter::update_task(const Commit& commit, KnownTask& known) {
  const Task& after = *commit.after;
  db_.send(update_task_sql, updated_task(known.number, after));
  if (known.state != after.state) {
    count(known.state, known.batch, -1);
    count(after.state, known.batch, +1);
  }
  known.version = after.version;
  known.last_seq = after.last_seq;
  known.state = after.state;
  store_result(after, known);
  if (!commit.edited) return;
  db_.send("UPDATE launches SET title = $2, launch = $3 WHERE n = $1",
           Values().add(known.number).add(after.title).add(encode_launch(after.launch)));
  db_.send("DELETE FROM labels WHERE n = $1", Values().add(known.number));
  store_labels(after, known.number);
  unindexed_[known.number] = after.version;
}

void CommitWriter::store_result(const Task& after, KnownTask& known) {
  const std::optional<int64_t> sum = sum_of(after.result);
  if (sum == known.result_sum) return;
  if (sum)
    db_.send("INSERT INTO results (n, result) VALUES ($1, $2) ON CONFLICT (n) DO UPDATE SET result = $2",
             Values().add(known.number).add(*after.result));
  else
    db_.send("DELETE FROM results WHERE n = $1", Values().add(known.number));
  known.result_sum = sum;
  unindexed_[known.number] = after.version;
}

void CommitWriter::store_events(const Commit& commit, int64_t number, Committed& out) {
  if (!commit.events.empty()) out.first_pos = kept_.last_pos + 1;
  for (const Event& event : commit.events) {
    events_.pos.push_back(++kept_.last_pos);
    events_.task.push_back(number);
    events_.seq.push_back(event.seq);
    events_.type.push_back(static_cast<int64_t>(event.type));
    events_.at.push_back(event.at.ms);
    events_.data.push_back(event.data);
    event_bytes_ += event.data.size();
    if (events_.pos.size() >= events_at_once || event_bytes_ >= event_bytes_at_once) put_events();
  }
}

void CommitWriter::put_events() {
  if (events_.pos.empty()) return;
  Values values;
  values.add_array(events_.pos).add_array(events_.task).add_array(events_.seq).add_array(events_.type);
  values.add_array(events_.at).add_array(events_.data);
  db_.send(
      "INSERT INTO events (pos, task, seq, type, at, data) SELECT * FROM unnest($1::bigint[], $2::bigint[], "
      "$3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[])",
      values);
  events_ = {};
  event_bytes_ = 0;
}

// Keys, settings, usage.
void CommitWriter::store_rest(const Commit& commit) {
  for (const UsageRow& used : commit.usage) db_.send(insert_usage_sql, inserted_usage(used));
  if (commit.key) {
    keys_.insert(commit.key->key);
    db_.send("INSERT INTO keys (key, fingerprint, task) VALUES ($1, $2, $3)",
             Values().add(commit.key->key).add(commit.key->fingerprint).add(commit.key->task_id.value));
  }
  for (const Commit::Setting& setting : commit.settings) {
    if (setting.json.empty())
      db_.send("DELETE FROM settings WHERE name = $1", Values().add(setting.name));
    else
      db_.send("INSERT INTO settings (name, json) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET json = $2",
               Values().add(setting.name).add(setting.json));
  }
}

void CommitWriter::remove_task(const Commit& commit, const KnownTask& known, Committed& out) {
  put_events();
  count(known.state, known.batch, -1);
  unindexed_.erase(known.number);
  const Values number = Values().add(known.number);
  for (const char* sql :
       {"DELETE FROM tasks WHERE n = $1", "DELETE FROM launches WHERE n = $1", "DELETE FROM results WHERE n = $1",
        "DELETE FROM labels WHERE n = $1", "DELETE FROM unindexed WHERE n = $1", "DELETE FROM searched WHERE n = $1"})
    db_.send(sql, number);
  if (known.last_seq > rows_at_once) {
    db_.send("INSERT INTO garbage (task) VALUES ($1)", number);
    work_behind_ = true;
  } else {
    db_.send("DELETE FROM events WHERE task = $1", number);
  }
  remove_session(SessionId(known.session));
  // Nobody is going to take these any more.
  db_.send("DELETE FROM notices WHERE task = $1 AND (taken_at IS NOT NULL OR session IS NULL)",
           Values().add(commit.task_id.value));
  out.first_pos = ++kept_.last_pos;
  db_.send("INSERT INTO tombstones (pos, task, parent, why, at) VALUES ($1, $2, $3, $4, $5)",
           Values()
               .add(out.first_pos)
               .add(commit.task_id.value)
               .add_or_null(known.parent)
               .add(static_cast<int>(*commit.remove))
               .add(commit.now.ms));
  tombstones_[commit.task_id.value] = {commit.task_id, SessionId(known.parent), *commit.remove, commit.now,
                                       out.first_pos};
  tasks_.erase(commit.task_id.value);  // `known` is gone with it.
}

// They lie in the order in which they were made, which is that of their times but for a clock that was set: the first
// one that stays ends it.
void CommitWriter::forget(const Commit::Forget& what, Committed& out) {
  const size_t forgot = db_.send(
      "WITH beyond AS (SELECT coalesce((SELECT pos FROM tombstones ORDER BY pos DESC LIMIT 1 OFFSET $2), 0) AS pos), "
      "kept AS (SELECT coalesce((SELECT min(t.pos) FROM tombstones t, beyond b WHERE t.at >= $1 AND t.pos > b.pos), "
      "  9223372036854775807) AS pos), "
      "old AS (SELECT t.pos, t.task FROM tombstones t, kept k WHERE t.pos < k.pos ORDER BY t.pos LIMIT $3), "
      "no_keys AS (DELETE FROM keys WHERE task IN (SELECT task FROM old)), "
      "gone AS (DELETE FROM tombstones WHERE pos IN (SELECT pos FROM old)), "
      "noted AS (UPDATE meta SET forgotten_pos = (SELECT max(pos) FROM old) WHERE one = 1 AND EXISTS (SELECT 1 FROM "
      "  old)) "
      "SELECT count(*), (SELECT at FROM tombstones WHERE pos > (SELECT coalesce(max(pos), 0) FROM old) ORDER BY pos "
      "  LIMIT 1) FROM old",
      Values().add(what.before.ms).add(what.most).add(what.rows));
  waiting_.emplace_back(forgot, [&out](const Rows& rows) {
    out.forgotten = rows.integer(0, 0);
    out.oldest_tombstone = rows.time(0, 1);
  });
  if (!what.usage_before) return;
  const size_t used = db_.send("DELETE FROM usage WHERE u IN (SELECT u FROM usage WHERE at < $1 ORDER BY at LIMIT $2)",
                               Values().add(what.usage_before.ms).add(what.rows));
  waiting_.emplace_back(used, [&out](const Rows& rows) { out.usage_forgotten = rows.affected(); });
}

// --- the end of a transaction

void CommitWriter::finish() {
  put_events();
  for (const auto& [id, difference] : batches_) {
    Values values;
    values.add(id);
    for (const int64_t count : difference) values.add(count);
    db_.send(
        "INSERT INTO batches AS b (id, pending, running, completed, failed, cancelled, resumed) VALUES ($1, $2, $3, "
        "$4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET pending = b.pending + $2, running = b.running + $3, "
        "completed = b.completed + $4, failed = b.failed + $5, cancelled = b.cancelled + $6, resumed = b.resumed + $7",
        values);
    db_.send("DELETE FROM batches WHERE id = $1 AND pending + running + completed + failed + cancelled + resumed <= 0",
             Values().add(id));
  }
  if (!unindexed_.empty()) {
    std::vector<int64_t> numbers, versions;
    for (const auto& [number, version] : unindexed_) {
      numbers.push_back(number);
      versions.push_back(version);
    }
    db_.send(
        "INSERT INTO unindexed (n, version) SELECT * FROM unnest($1::bigint[], $2::bigint[]) "
        "ON CONFLICT (n) DO UPDATE SET version = excluded.version",
        Values().add_array(numbers).add_array(versions));
    work_behind_ = true;
  }
  Values values;
  values.add(kept_.last_pos).add(kept_.last_task).add(kept_.last_session);
  for (const int64_t count : kept_.counts.by_state) values.add(count);
  db_.send(
      "UPDATE meta SET last_pos = $1, last_task = $2, last_session = $3, pending = $4, running = $5, completed = $6, "
      "failed = $7, cancelled = $8, resumed = $9 WHERE one = 1",
      values);
}

void CommitWriter::written(const std::vector<Rows>& answers) {
  for (const auto& [place, use] : waiting_) use(answers[place]);
  waiting_.clear();
}

}  // namespace errand::postgres
