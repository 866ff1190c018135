// What a store answers about tasks, events, sessions, messages and notices: one function a question, on a borrowed
// connection. What needs several statements of one moment reads them in one transaction.
#pragma once

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace errand::postgres {

Result<Task> get_task(Connection& db, const TaskId& id);
Result<std::vector<TaskId>> find_prefix(Connection& db, const std::string& prefix, int limit);
Result<std::vector<Task>> working(Connection& db);
Result<std::vector<QueuedTask>> queued(Connection& db);
Result<std::vector<TaskId>> expired(Connection& db, Time now, int limit);
Result<Time> next_expiry(Connection& db);
Result<BatchCounts> batch_counts(Connection& db, const BatchId& id);
Result<BatchPage> batches(Connection& db, const std::string& cursor, int limit);
Result<UsageReport> usage(Connection& db, const UsageQuery& query);
Result<std::vector<TaskId>> tasks_of_parent(Connection& db, const SessionId& parent);

Result<std::vector<Event>> events_after(Connection& db, const TaskId& id, int64_t seq, int limit);
Result<std::vector<Change>> changes_after(Connection& db, int64_t pos, int limit);

Result<Session> get_session(Connection& db, const SessionId& id);
Result<MessagePage> messages(Connection& db, const SessionId& id, int64_t after, int64_t before, int limit);
Result<Message> get_message(Connection& db, const MessageId& id);
Result<std::vector<Notice>> notices(Connection& db, const SessionId& id, int64_t after, int limit);
Result<Notice> get_notice(Connection& db, const NoticeId& id);
Result<std::vector<Notice>> notices_of_task(Connection& db, const TaskId& id);
Result<std::optional<Commit::Key>> find_key(Connection& db, const std::string& key);
Result<std::vector<Commit::Setting>> settings(Connection& db, const std::string& prefix);

// The beginning of a transaction that sees one moment; its end is a COMMIT.
inline constexpr const char* one_moment = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

}  // namespace errand::postgres
