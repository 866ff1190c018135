// Rows and values: which columns a task, an event, a message, a notice has, written and read in one place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace errand::sqlite {

// --- tasks: the columns that change.

// "INSERT INTO tasks ..." and the two UPDATEs: one with the columns that are indexed by state (each costs its index
// even where the value stays the same), one without.
extern const char* const insert_task_sql;
extern const char* const update_task_sql;
extern const char* const update_task_same_state_sql;
enum class TaskUpdate : uint8_t { all, same_state };

// JSON texts of a task that must live until the statement has run.
struct TaskTexts {
  explicit TaskTexts(const Task& task);
  std::string asks, waiting, progress, error;
};

void bind_insert(Statement& statement, int64_t number, const Task& task, const TaskTexts& texts, Time created_high);
void bind_update(Statement& statement, TaskUpdate which, int64_t number, const Task& task, const TaskTexts& texts);

extern const char* const insert_launch_sql;
extern const char* const update_launch_sql;  // The same columns, of a row that is there.
void bind_launch(Statement& statement, int64_t number, const Task& task, const std::string& launch_json);

// "SELECT <columns> FROM <tables> WHERE t.n = ?" and the like give a row that read_task understands; its first column
// is n.
extern const char* const task_columns;
extern const char* const task_tables;
Result<Task> read_task(const Statement& row);

// --- events
extern const char* const insert_event_sql;
void bind_event(Statement& statement, int64_t pos, int64_t number, const Event& event);
// pos, task, seq, type, at, data, sum, then the task's id.
extern const char* const event_columns;
Result<Event> read_event(const Statement& row);

// --- messages
inline constexpr int64_t messages_a_session = 1 << 20;
inline int64_t message_key(int64_t session, int64_t seq) { return session * messages_a_session + seq; }
struct StoredMessage {
  Message message;  // Without its session's id.
  int64_t from_seq = 0;
  int64_t to_seq = 0;
};
extern const char* const put_message_sql;
void bind_message(Statement& statement, int64_t key, const Message& message, const std::string& parts_json,
                  int64_t from_seq, int64_t to_seq);
extern const char* const message_columns;
Result<StoredMessage> read_message(const Statement& row);

// --- notices, sessions, tombstones
extern const char* const insert_notice_sql;
void bind_notice(Statement& statement, const Notice& notice, int64_t seq);
extern const char* const notice_columns;
Notice read_notice(const Statement& row);
extern const char* const session_columns;
Session read_session(const Statement& row);
extern const char* const tombstone_columns;
Tombstone read_tombstone(const Statement& row);

// --- usage. The first column is u, which is not sealed.
extern const char* const insert_usage_sql;
void bind_usage(Statement& statement, const UsageRow& row);
extern const char* const usage_columns;
Result<UsageRow> read_usage(const Statement& row);

// A row that does not hold what was written into it.
Error damaged(std::string_view what);

}  // namespace errand::sqlite
