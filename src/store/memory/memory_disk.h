// What a MemoryStore keeps, and how a commit changes it. One lock around everything: it is for tests.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

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

  // All of it or nothing.
  Result<Committed> apply(const Commit& commit);

  std::mutex mutex;
  // By the order of their making; a number is never used again.
  std::map<int64_t, TaskRow> tasks;
  std::unordered_map<TaskId, int64_t> numbers;
  std::map<TaskId, Tombstone> tombstones;
  std::map<int64_t, std::pair<TaskId, int64_t>> order;  // pos: the event's task and seq; seq 0: a tombstone.
  std::unordered_map<SessionId, SessionRow> sessions;
  std::unordered_map<MessageId, MessageRow> messages;
  std::map<NoticeId, Notice> notices;
  std::map<std::string, Commit::Key> keys;
  std::map<std::string, std::string> settings;
  int64_t last_number = 0;
  int64_t last_pos = 0;
  int64_t forgotten_pos = 0;

  TaskRow* find(const TaskId& id);
  Error unknown(const TaskId& id) const;
  // A message as it is shown: put together from its events where it was stored without parts.
  Message shown(const MessageRow& row) const;

 private:
  Status check(const Commit& commit);
  Status check_messages(const Commit& commit);
  void remove_session(const SessionId& id);
  void remove_task(const Commit& commit, Committed& out);
  void forget(const Commit::Forget& what, Committed& out);
  void store_messages(const Commit& commit, int64_t seq_before, Committed& out);
  void store_notices(const Commit& commit, Committed& out);
};

}  // namespace errand
