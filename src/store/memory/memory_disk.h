// What a MemoryStore keeps, and how a commit changes it. One lock around everything: it is for tests.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "store/rules.h"
#include "store/store.h"

namespace errand {

class MemoryDisk {
 public:
  struct TaskRow {
    Task task;
    std::vector<Event> events;  // [i] has seq i + 1.
  };
  struct MessageRow {
    Message message;
    EventRange events;
  };
  struct SessionRow {
    Session session;
    std::vector<MessageId> messages;  // [i] has seq i + 1.
  };

  Mutex mutex;
  // All of it or nothing.
  Result<Committed> apply(const Commit& commit) REQUIRES(mutex);

  // By the order of their making; a number is never used again.
  std::map<int64_t, TaskRow> tasks GUARDED_BY(mutex);
  std::unordered_map<TaskId, int64_t> numbers GUARDED_BY(mutex);
  std::map<TaskId, Tombstone> tombstones GUARDED_BY(mutex);
  std::map<int64_t, std::pair<TaskId, int64_t>> order
      GUARDED_BY(mutex);  // pos: the event's task and seq; seq 0: a tombstone.
  std::unordered_map<SessionId, SessionRow> sessions GUARDED_BY(mutex);
  std::unordered_map<MessageId, MessageRow> messages GUARDED_BY(mutex);
  std::map<NoticeId, Notice> notices GUARDED_BY(mutex);
  std::map<std::string, Commit::Key> keys GUARDED_BY(mutex);
  std::map<std::string, std::string> settings GUARDED_BY(mutex);
  std::vector<UsageRow> usage GUARDED_BY(mutex);
  int64_t last_number GUARDED_BY(mutex) = 0;
  int64_t last_pos GUARDED_BY(mutex) = 0;
  int64_t forgotten_pos GUARDED_BY(mutex) = 0;

  TaskRow* find(const TaskId& id) REQUIRES(mutex);
  Error unknown(const TaskId& id) const REQUIRES(mutex);
  // A message as it is shown: put together from its events where it was stored without parts.
  Message shown(const MessageRow& row) const REQUIRES(mutex);

 private:
  Status check(const Commit& commit) REQUIRES(mutex);
  Status check_messages(const Commit& commit) REQUIRES(mutex);
  void remove_session(const SessionId& id) REQUIRES(mutex);
  void remove_task(const Commit& commit, Committed& out) REQUIRES(mutex);
  void forget(const Commit::Forget& what, Committed& out) REQUIRES(mutex);
  void store_messages(const Commit& commit, int64_t seq_before, Committed& out) REQUIRES(mutex);
  void store_notices(const Commit& commit, Committed& out) REQUIRES(mutex);
};

}  // namespace errand
