// Where tasks, sessions, messages, events and notices live.
//
// Calls are named by intention. One contract suite (tests/contract/store_contract.h) runs against every store and says
// what the words here mean.
//
// Threads: the engine's thread calls `commit`; the answer comes through the executor that the store was made with.
// Every other call reads. It may run on any thread and in parallel, and may block on the disk. It keeps no transaction
// open after it returns, and sees every commit that was answered before it began. Any of them may fail with internal,
// reason "corrupt" (a damaged row is never returned as if it were right) or "io", or with unavailable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/syncable.h"
#include "task/event.h"
#include "task/message.h"
#include "task/notice.h"
#include "task/task.h"
#include "task/usage.h"

namespace errand {

// Why a task is no longer there: what a not-found answer says (R3.6).
enum class Gone : uint8_t { deleted, cleared, expired, session_ended };
std::string_view name(Gone why);

// One atomic step: the store takes all of it or nothing. Most fields are empty in most commits.
struct Commit {
  // The task. `before_version` 0 inserts it. Otherwise the stored version must equal it; if not, the commit is refused
  // (conflict) and writes nothing. `after->version` must be before_version + 1.
  // `remove` (without `after`) deletes the task with its session (as remove_session), messages and events, and the
  // notices to that session. Notices to its parent stay until they are taken; its other notices are deleted. A
  // tombstone stays until `forget` deletes it.
  TaskId task_id;  // Empty: this commit is about no task.
  int64_t before_version = 0;
  std::shared_ptr<const Task> after;
  std::optional<Gone> remove;

  // The title or the labels of `after` differ from what is stored, which is otherwise left as it is: they are fixed but
  // for an edit, and not written with every commit.
  bool edited = false;
  // What calls of models used: in the same commit as the event that tells of it. Never removed with its task.
  std::vector<UsageRow> usage;

  std::vector<Event> events;       // The task's, with seq: from its last one up to after->last_seq. The store sets pos.
  std::vector<Message> messages;   // Inserted, or replaced where the id is known. seq 0: the next one of its session.
  std::vector<Notice> notices;     // Inserted; the store sets seq, and makes a session that it does not know.
  std::vector<NoticeId> taken;     // Marked taken at `now`, where they are not yet.
  std::optional<Session> session;  // Inserted where its id is not known yet (an existing one stays as it is).
  // Deletes the session's row, its messages and notices, and its own settings (session_setting_prefix).
  std::optional<SessionId> remove_session;

  // Makes creating safe to repeat: a commit with a known key is refused with conflict, reason "idempotency_key". A key
  // is known as long as its task exists, and after that as long as the task's tombstone.
  struct Key {
    std::string key;
    std::string fingerprint;  // Of the request.
    TaskId task_id;
  };
  std::optional<Key> key;

  // Deletes the tombstones from before this time, and all except the `most` newest: the oldest first, at most `rows` of
  // them. The keys of their tasks are deleted with them. A reader of changes that has not come past them gets "reset".
  struct Forget {
    Time before;
    int64_t most = 0;
    int rows = 0;
    Time usage_before = {};  // Rows of usage from before this time go too, at most `rows` of them.
  };
  std::optional<Forget> forget;

  // Stored settings, named agents, what sessions keep: a name and its JSON (empty: removed).
  struct Setting {
    std::string name;
    std::string json;
  };
  std::vector<Setting> settings;

  // Synced before it is stored, on the store's writer thread. Where one cannot be, the commit is refused with its
  // error.
  std::vector<std::shared_ptr<Syncable>> sync_first;
  Time now;  // Wall time of the decision.
};

// What the names of a session's own settings begin with. A session's id has no '/' (api/ sees to it).
inline std::string session_setting_prefix(const SessionId& id) { return "session/" + id.value + "/"; }

// The numbers that the store gave to a commit.
struct Committed {
  int64_t first_pos = 0;              // Of its events (consecutive); or of its tombstone.
  std::vector<int64_t> message_seqs;  // In the order of Commit::messages.
  std::vector<int64_t> notice_seqs;   // In the order of Commit::notices.
  int64_t forgotten = 0;              // Tombstones that Commit::forget removed,
  Time oldest_tombstone;              // and the time of the oldest that is left; never: none is.
  int64_t usage_forgotten = 0;        // Rows of usage that it removed.
};

// By the order in which they were stored, whatever the clock said; by updated_at, the latest first; or as people need
// them (R15.1): by `band_of`, the newest first in each band. Of the last, a task that moves to another band between two
// pages can be on both or on neither.
enum class Sort : uint8_t { newest, oldest, updated, attention };

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
  bool unseen = false;                          // Only those that failed and whose result nobody has read (R15.1).
  std::optional<bool> archived = std::nullopt;  // Only those that are, or are not; absent: both.
  std::optional<bool> pinned = std::nullopt;    // Likewise.
  // Of the tasks of one batch only the first one in the order of the list: a batch is one row (R15.1). A count has one
  // for each batch.
  bool fold = false;
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

// A batch, for a list of them.
struct BatchInfo {
  BatchId id;
  BatchCounts counts;
  std::string title;  // Of its first task,
  Time created_at;    // and when that was made.
};
struct BatchPage {
  std::vector<BatchInfo> batches;
  std::string next_cursor;  // Empty: that was all.
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

// One step of the store-wide order: an event, or a task that was removed.
struct Change {
  int64_t pos = 0;
  std::optional<Event> event;
  std::optional<Tombstone> gone;
};

struct MessagePage {
  std::vector<Message> messages;  // Oldest first. A message still open, or cut, is put together from its events.
  bool more = false;              // There are more messages in the direction that was asked for.
  int64_t task_seq = 0;           // The seq of the last event that this page includes: a stream continues after it.
};

// What the store can do. `damaged`, `unlinked` and `taken` last until it is opened again: undamaged rows can be read,
// and every commit is refused.
enum class StoreState : uint8_t {
  well,
  full,      // The disk is: only commits that remove something are taken.
  unlinked,  // The database was deleted, moved or replaced under the server.
  damaged,   // Something that was read is not what was written.
  away,      // The database does not answer: nothing can be stored or read until it does.
  taken,     // Another server has taken the database over.
};
std::string_view name(StoreState state);  // "ok", "full", ...

struct StoreHealth {
  StoreState state = StoreState::well;
  std::string text;  // What is wrong and what to do; empty where all is well.
};

class Store {
 public:
  virtual ~Store() = default;

  // Stores the commits in one transaction and answers each, in order. Success: the commit is durable before it is
  // answered. A refused commit (conflict) does not touch the others. If the disk is full or fails, all of the group are
  // answered with storage_full or internal and nothing of it is stored; if the store is damaged or its file was
  // deleted, with unavailable and the reason `damaged` or `unlinked`. A failed sync of the store itself ends the
  // process, because nobody knows what was stored: recovery decides. The store may join the groups of several calls
  // into one transaction; it keeps their order. While the database is `away` a group is answered with unavailable and
  // that reason: nothing of it is stored. One that was on its way when the database went is answered when it is known
  // what became of it, which may be later than others.
  using Answer = std::move_only_function<void(std::vector<Result<Committed>>)>;
  // The group is shared, not copied: the caller must not change it before the answer.
  using Group = std::shared_ptr<const std::vector<Commit>>;
  virtual void commit(Group group, Answer answer) = 0;
  void commit(std::vector<Commit> group, Answer answer) {
    commit(std::make_shared<const std::vector<Commit>>(std::move(group)), std::move(answer));
  }

  // Tasks.
  virtual Result<Task> get(const TaskId& id) = 0;  // not_found with the reason of its tombstone where there is one.
  // One page; its cursor names the next. invalid_argument for a cursor that is none, or of another filter or order.
  virtual Result<TaskPage> list(const TaskFilter& filter, const Page& page) = 0;
  virtual Result<int64_t> count(const TaskFilter& filter) = 0;  // Of all pages. Reads as many rows as there are.
  virtual StateCounts counts() = 0;                             // From memory: costs no reading.
  // Ids that begin with `prefix` (at most `limit`): for git-like short ids.
  virtual Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) = 0;
  // For recovery: the whole tasks whose turn is at work (also while `stopping`); the tasks in line, in any order.
  virtual Result<std::vector<Task>> working() = 0;
  virtual Result<std::vector<QueuedTask>> queued() = 0;
  // Tasks at rest with expires_at <= now whose notices are all taken or have no parent, the soonest first.
  virtual Result<std::vector<TaskId>> expired(Time now, int limit) = 0;
  virtual Result<Time> next_expiry() = 0;  // Of the same tasks; "never" where none expires.

  // Batches and parents.
  virtual Result<BatchCounts> batch_counts(const BatchId& id) = 0;  // All zero: unknown.
  // By their ids, the greatest first: those that errand made are the newest first. `limit` as of Page.
  virtual Result<BatchPage> batches(const std::string& cursor, int limit) = 0;
  // All of them, at work or not; none for a session that is not known.
  virtual Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) = 0;

  // Events. For a task that does not exist: not_found, as from `get`.
  virtual Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) = 0;
  // All changes with pos > `pos`, in order; a removed task has only its tombstone. not_found with reason "reset": a
  // tombstone after `pos` was already deleted (and `pos` is not 0, the very beginning), or this store never gave `pos`
  // (another database). The reader must then read everything again.
  virtual Result<std::vector<Change>> changes_after(int64_t pos, int limit) = 0;
  virtual int64_t last_pos() = 0;  // Of the last commit that is durable. From memory.

  // Sessions, messages, notices.
  virtual Result<Session> session(const SessionId& id) = 0;  // not_found
  // With `after`: the messages after that seq, oldest first. With `before`: the newest messages below that seq. Both 0:
  // from the first message.
  virtual Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) = 0;
  virtual Result<Message> message(const MessageId& id) = 0;  // not_found
  // Not taken, seq > after, oldest first.
  virtual Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) = 0;
  virtual Result<Notice> notice(const NoticeId& id) = 0;                      // Taken or not; not_found.
  virtual Result<std::vector<Notice>> notices_of_task(const TaskId& id) = 0;  // Taken ones too.

  // Nothing: it is not known, and a commit with it is taken.
  virtual Result<std::optional<Commit::Key>> find_key(const std::string& key) = 0;
  // Those whose names begin with `prefix`, by name.
  virtual Result<std::vector<Commit::Setting>> settings(const std::string& prefix) = 0;

  // Sums of what calls of models used. Reads every row of the time that is asked for.
  virtual Result<UsageReport> usage(const UsageQuery& query) = 0;

  virtual StoreHealth health() = 0;  // Never waits.

  // For people and metrics: "sqlite 3.40.1, /…/errand.db, schema 1".
  virtual std::string describe() = 0;
};

}  // namespace errand
