// What every store refuses, and in which words: the parts of the contract that need no disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace errand {

// The shape of a commit, before anything is looked up: versions, event numbers, what goes together with what.
Status check_commit(const Commit& commit);
// The events of `commit` continue after the stored task's last one.
Status check_events(const Commit& commit, int64_t last_seq);
Status check_page(const Page& page);

Error version_conflict(const TaskId& id, int64_t stored, int64_t expected);
Error already_there(const TaskId& id);
Error unknown_task(const TaskId& id, const Tombstone* tombstone);
Error unknown_session(const SessionId& id);
Error unknown_message(const MessageId& id);
Error unknown_notice(const NoticeId& id);
Error known_key(const std::string& key);
Error out_of_order(const Message& message, int64_t next);
Error other_session(const Message& message);
Error history_gone();

// True where the task passes the filter (but for `fold`, which is about the others); `terms` are
// query_terms(filter.query).
bool passes(const Task& task, const TaskFilter& filter, const std::vector<std::string>& terms);

// The events that belong to a message that was stored without its parts: (after, until], 0 for "still open".
struct EventRange {
  int64_t after = 0;
  int64_t until = 0;
};
EventRange events_of(const Message& message, const Commit& commit, int64_t seq_before);
// True where the stored message has to be put together from its events. Of its parts only the drivers' own data is
// stored (it is in no event): taken out before the events are applied, and put back behind them.
bool is_unfinished(const Message& message);
std::vector<Part> take_opaque(Message& message);
void put_opaque(Message& message, std::vector<Part> kept);

QueuedTask queued_task(const Task& task);

}  // namespace errand
