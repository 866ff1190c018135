// Where tasks, sessions, messages, events and notices live.
//
// Named by intention. One contract suite (tests/contract/store_contract.h) runs against every store and says what the
// words here mean.
//
// Threads: `commit` is called by the engine's thread; its answer comes through the executor that the store was made
// with. Every other call reads: it may block on the disk, may run on any thread and in parallel, never keeps a
// transaction open behind the call, and sees all that was answered by `commit` before it began. Any of them may answer
// internal with the reason "corrupt" (a damaged row: never a wrong one), "io", or unavailable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "task/event.h"
#include "task/message.h"
#include "task/notice.h"
#include "task/task.h"

namespace errand {

// Something that must be on disk before a commit that speaks of it (a log's bytes before the `output` event).
class Syncable {
 public:
  virtual ~Syncable() = default;
  // Called on the store's writer thread. Blocking.
  virtual Status sync() = 0;
};

// Why a task is no longer there: what a not-found answer says (R3.6).
enum class Gone : uint8_t { deleted, cleared, expired, session_ended };
std::string_view name(Gone why);

// One atomic step: all of it or nothing. Most fields are empty in most commits.
struct Commit {
  // The task. `before_version` 0 inserts it; else the commit is refused (conflict) where the stored version differs,
  // and then writes nothing. `after->version` must be before_version + 1. With `remove` (and no `after`) the task goes,
  // with its session (as remove_session), messages and events, and what others owed that session; notices that it owes
  // its parent stay until they are taken, its other ones go; a tombstone stays until it is forgotten (`forget`).
  TaskId task_id;  // Empty: this commit is about no task.
  int64_t before_version = 0;
  std::shared_ptr<const Task> after;
  std::optional<Gone> remove;

  std::vector<Event> events;       // The task's, with seq: from its last one up to after->last_seq. The store sets pos.
  std::vector<Message> messages;   // Inserted, or replaced where the id is known. seq 0: the next one of its session.
  std::vector<Notice> notices;     // Inserted; the store sets seq, and makes a session that it does not know.
  std::vector<NoticeId> taken;     // Marked taken at `now`, where they are not yet.
  std::optional<Session> session;  // Inserted where its id is not known yet (an existing one stays as it is).
  // The session's row, its messages and notices go, and the settings of its own (session_setting_prefix).
  std::optional<SessionId> remove_session;

  // Creating is safe to repeat: refused with conflict and reason "idempotency_key" where the key is known. A key is
  // known as long as its task, and as long as its task's tombstone behind that.
  struct Key {
    std::string key;
    std::string fingerprint;  // Of the request.
    TaskId task_id;
  };
  std::optional<Key> key;

  // Tombstones of before this time go, and those beyond the `most` newest; the oldest first, `rows` of them at most.
  // The keys of their tasks go with them, and whoever has read changes only up to before them begins anew ("reset").
  struct Forget {
    Time before;
    int64_t most = 0;
    int rows = 0;
  };
  std::optional<Forget> forget;

  // Stored settings, named agents, what sessions keep: a name and its JSON (empty: removed).
  struct Setting {
    std::string name;
    std::string json;
  };
  std::vector<Setting> settings;

  std::vector<std::shared_ptr<Syncable>> sync_first;
  Time now;  // Wall time of the decision.
};

// What the names of a session's own settings begin with. A session's id has no '/' (api/ sees to it).
inline std::string session_setting_prefix(const SessionId& id) { return "session/" + id.value + "/"; }

// What a commit was given by the store.
struct Committed {
  int64_t first_pos = 0;              // Of its events (consecutive); or of its tombstone.
  std::vector<int64_t> message_seqs;  // In the order of Commit::messages.
  std::vector<int64_t> notice_seqs;   // In the order of Commit::notices.
  int64_t forgotten = 0;              // Tombstones that Commit::forget removed,
  Time oldest_tombstone;              // and the time of the oldest that is left; never: none is.
};

// By the order in which they were stored, whatever the clock said; or by updated_at, the latest first.
enum class Sort : uint8_t { newest, oldest, updated };

struct TaskFilter {
  std::vector<TaskState> states;  // Empty: all.
  std::string agent_id;
  std::optional<TaskKind> kind;
  BatchId batch_id;
  SessionId parent_session_id;
  std::string label_key, label_value;
  // Title, prompt, command and result: every word of it must occur, as plain text, in any case (search_text.h).
  std::string query;
  Time created_after, created_before;  // Neither is included.
  // What `waiting_for` shows of it: one of these. Both empty: it need not wait.
  std::vector<AskKind> asks;
  std::vector<WaitKind> waits;
  bool operator==(const TaskFilter&) const = default;
};

struct Page {
  int limit = 50;      // 1 to 500.
  std::string cursor;  // From TaskPage::next_cursor; empty: the first page.
  int64_t offset = 0;  // Instead of a cursor.
  Sort sort = Sort::newest;
};

struct TaskPage {
  std::vector<Task> tasks;
  std::string next_cursor;  // Empty: that was all.
};

struct StateCounts {
  int64_t by_state[task_state_count] = {};
  bool operator==(const StateCounts&) const = default;
};

// A task in line, small: what the engine keeps of the ones that wait.
struct QueuedTask {
  TaskId id;
  std::string agent_id;
  std::string model;
  BatchId batch_id;
  int priority = 0;
  Time queued_at;
  bool over_limit = false;
};

struct Tombstone {
  TaskId task_id;
  SessionId parent_session_id;
  Gone why = Gone::deleted;
  Time at;
  int64_t pos = 0;
};

// One step of the store-wide order: an event, or a task that went.
struct Change {
  int64_t pos = 0;
  std::optional<Event> event;
  std::optional<Tombstone> gone;
};

struct MessagePage {
  std::vector<Message> messages;  // Oldest first. A message still open, or cut, is put together from its events.
  bool more = false;              // There are further ones in the direction that was asked for.
  int64_t task_seq = 0;           // The seq of the task's last event that this page has in it: where a stream goes on.
};

// What can be done with the store. `damaged` and `unlinked` stay until it is opened again: it can be read as far as it
// goes, and takes no commit.
enum class StoreState : uint8_t {
  well,
  full,      // The disk is: only commits that remove something are taken.
  unlinked,  // The database was deleted, moved or replaced under the server.
  damaged,   // Something that was read is not what was written.
};
std::string_view name(StoreState state);  // "ok", "full", ...

struct StoreHealth {
  StoreState state = StoreState::well;
  std::string text;  // What is the matter and what to do; empty where all is well.
};

class Store {
 public:
  virtual ~Store() = default;

  // Stores the commits in one transaction and answers each, in order; durable before it is answered. A refused commit
  // does not touch the others. Where the disk is full or fails, all are answered with that (storage_full, internal) and
  // nothing is stored; where it is damaged or its file is gone, with unavailable and the reason `damaged` or
  // `unlinked`. A failed sync of the store itself ends the process: recovery decides. The groups of several calls may
  // be joined into one transaction; their order is kept.
  using Answer = std::move_only_function<void(std::vector<Result<Committed>>)>;
  // The group is shared, not copied: nobody changes it before the answer.
  using Group = std::shared_ptr<const std::vector<Commit>>;
  virtual void commit(Group group, Answer answer) = 0;
  void commit(std::vector<Commit> group, Answer answer) {
    commit(std::make_shared<const std::vector<Commit>>(std::move(group)), std::move(answer));
  }

  // Tasks.
  virtual Result<Task> get(const TaskId& id) = 0;  // not_found with the reason of its tombstone where there is one.
  virtual Result<TaskPage> list(const TaskFilter& filter, const Page& page) = 0;
  virtual Result<int64_t> count(const TaskFilter& filter) = 0;
  virtual StateCounts counts() = 0;  // Kept, not counted.
  // Ids that begin with `prefix` (at most `limit`): for git-like short ids.
  virtual Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) = 0;
  // For recovery: those whose turn is at work (with `stopping` ones), whole; those in line, small and in any order.
  virtual Result<std::vector<Task>> working() = 0;
  virtual Result<std::vector<QueuedTask>> queued() = 0;
  // At rest with expires_at <= now and every notice of theirs taken or without a parent, soonest first.
  virtual Result<std::vector<TaskId>> expired(Time now, int limit) = 0;
  virtual Result<Time> next_expiry() = 0;  // Of the same tasks; never, where nothing expires.

  // Batches and parents.
  virtual Result<BatchCounts> batch_counts(const BatchId& id) = 0;  // All zero: unknown.
  virtual Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) = 0;

  // Events. Of a task that is not there: not_found, as `get` says it.
  virtual Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) = 0;
  // All changes with pos > `pos` in order; those of tasks that went are gone. Where tombstones behind it were forgotten
  // (and it is not 0, the very beginning), or `pos` was never given (another database): not_found with reason "reset".
  virtual Result<std::vector<Change>> changes_after(int64_t pos, int limit) = 0;
  virtual int64_t last_pos() = 0;

  // Sessions, messages, notices.
  virtual Result<Session> session(const SessionId& id) = 0;
  // After (oldest first from there) or before (the newest below it); 0 and 0: from the first.
  virtual Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) = 0;
  virtual Result<Message> message(const MessageId& id) = 0;
  // Not taken, seq > after, oldest first.
  virtual Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) = 0;
  virtual Result<Notice> notice(const NoticeId& id) = 0;
  virtual Result<std::vector<Notice>> notices_of_task(const TaskId& id) = 0;  // Taken ones too.

  virtual Result<std::optional<Commit::Key>> find_key(const std::string& key) = 0;
  virtual Result<std::vector<Commit::Setting>> settings(const std::string& prefix) = 0;

  virtual StoreHealth health() = 0;  // Never waits.

  // For people and metrics: "sqlite 3.40.1, /…/errand.db, schema 1".
  virtual std::string describe() = 0;
};

}  // namespace errand
