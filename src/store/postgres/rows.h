// Rows and values: which columns a task, an event, a message, a notice has, written and read in one place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/values.h"
#include "store/store.h"

namespace errand::postgres {

// --- tasks. `n` first, then the columns that are fixed, then those that every commit writes.
extern const char* const insert_task_sql;
extern const char* const update_task_sql;
Values inserted_task(int64_t number, const Task& task);
Values updated_task(int64_t number, const Task& task);
// A hash of the result; NULL where there is none.
std::optional<int64_t> sum_of(const std::optional<std::string>& result);

// "SELECT <columns> FROM <tables> WHERE t.n = $1" and the like give a row that read_task understands.
extern const char* const task_columns;
extern const char* const task_tables;
// Columns of it, for lists.
inline constexpr int task_number_column = 0, task_batch_column = 1, task_band_column = 2;
Result<Task> read_task(const Row& row);

// What `waiting_for` shows of it, as it is stored.
std::optional<int> waits_for(const Task& task);
int stored_wait(AskKind kind);
int stored_wait(WaitKind kind);

// --- events: pos, seq, type, at, data, and the task's id.
extern const char* const event_columns;
Result<Event> read_event(const Row& row);

// --- messages
struct StoredMessage {
  Message message;      // Without its session's id.
  int64_t session = 0;  // Its number.
  int64_t from_seq = 0;
  int64_t to_seq = 0;
};
extern const char* const put_message_sql;
Values put_message(int64_t session, int64_t seq, const Message& message, int64_t from_seq, int64_t to_seq);
extern const char* const message_columns;
Result<StoredMessage> read_message(const Row& row);

// --- notices, sessions, tombstones, usage
extern const char* const insert_notice_sql;
Values inserted_notice(const Notice& notice, int64_t seq);
extern const char* const notice_columns;
Notice read_notice(const Row& row);
extern const char* const session_columns;
Session read_session(const Row& row);
extern const char* const tombstone_columns;
Tombstone read_tombstone(const Row& row);
extern const char* const insert_usage_sql;
Values inserted_usage(const UsageRow& row);
extern const char* const usage_columns;
Result<UsageRow> read_usage(const Row& row);

// A row that does not hold what was written into it.
Error damaged(std::string_view what);

}  // namespace errand::postgres
