// What a store answers about events, sessions, messages and notices: one function a question, on a borrowed connection.
#pragma once

#include "base/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace errand::sqlite {

Result<Task> get_task(Database& db, const TaskId& id);
Result<std::vector<TaskId>> find_prefix(Database& db, const std::string& prefix, int limit);
Result<std::vector<Task>> working(Database& db);
// Those in line whose number is in [from, to]; `expected` is about how many.
Result<std::vector<QueuedTask>> queued(Database& db, int64_t from, int64_t to, size_t expected);
// The least and the greatest number of those in line; the same where there is none.
Result<std::pair<int64_t, int64_t>> queued_range(Database& db);
Result<std::vector<TaskId>> expired(Database& db, Time now, int limit);
Result<Time> next_expiry(Database& db);
Result<BatchCounts> batch_counts(Database& db, const BatchId& id);
Result<BatchPage> batches(Database& db, const std::string& cursor, int limit);
Result<UsageReport> usage(Database& db, const UsageQuery& query);
Result<std::vector<TaskId>> tasks_of_parent(Database& db, const SessionId& parent);

Result<std::vector<Event>> events_after(Database& db, const TaskId& id, int64_t seq, int limit);
Result<std::vector<Change>> changes_after(Database& db, int64_t pos, int limit);

Result<Session> get_session(Database& db, const SessionId& id);
Result<MessagePage> messages(Database& db, const SessionId& id, int64_t after, int64_t before, int limit);
Result<Message> get_message(Database& db, const MessageId& id);
Result<std::vector<Notice>> notices(Database& db, const SessionId& id, int64_t after, int limit);
Result<Notice> get_notice(Database& db, const NoticeId& id);
Result<std::vector<Notice>> notices_of_task(Database& db, const TaskId& id);
Result<std::optional<Commit::Key>> find_key(Database& db, const std::string& key);
Result<std::vector<Commit::Setting>> settings(Database& db, const std::string& prefix);

}  // namespace errand::sqlite
