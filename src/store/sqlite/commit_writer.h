// Puts commits into the tables, inside the writer's transaction. It knows rows and numbers; when a transaction begins
// and ends, and what a failed one means, is the writer's business (writer.h).
//
// Everything that can refuse a commit is looked up before its first row is written, so a refused one writes nothing and
// the others of the transaction go on.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/rules.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace errand::sqlite {

// The one row of `meta`: what is kept instead of counted.
struct Kept {
  int64_t last_pos = 0;
  int64_t last_task = 0;
  int64_t last_session = 0;
  int64_t created_high = 0;
  int64_t clock_back = 0;
  StateCounts counts;
};
Result<Kept> read_kept(Database& db);

// A task that went: what the search index has of it.
struct RemovedText {
  int64_t number = 0;
  int64_t result_number = 0;  // results.r; 0: it had none.
  std::string title, launch, result;
};

class CommitWriter {
 public:
  // `db` is in no transaction and outlives this.
  static Result<CommitWriter> open(Database& db);

  // The connection has moved.
  void use(Database& db) { db_ = &db; }

  // What the last committed transaction left.
  const Kept& kept() const { return kept_; }

  // After BEGIN.
  void begin();
  // Refused: the error. Where `failure` is set afterwards, SQLite failed and the transaction must be rolled back.
  Result<Committed> apply(const Commit& commit);
  // Before COMMIT: what is kept. Sets `failure`.
  void finish();
  void committed();
  void rolled_back();
  int failure() const { return failure_; }

  // The tasks that the last transaction removed.
  std::vector<RemovedText> take_removed() { return std::move(removed_); }

  bool has_garbage() const { return has_garbage_; }
  // Deletes at most `rows` of what nobody sees any more. Between begin and finish.
  void sweep(int rows);

 private:
  struct KnownTask {
    int64_t number = 0;
    int64_t version = 0;
    int64_t last_seq = 0;
    TaskState state = TaskState::pending;
    TurnPhase phase = TurnPhase::queued;
    Time expires_at;
    std::optional<int64_t> result_sum;
    std::string batch;
  };
  // The highest id of a kind that was ever stored. Our own ids go up with time, so most new ones lie above it: such a
  // one cannot be there already, and need not be looked for.
  struct HighMark {
    std::string_view prefix;
    std::string highest;
    bool below(std::string_view id) const { return id.starts_with(prefix) && id > highest; }
    void note(std::string_view id) {
      if (below(id)) highest = id;
    }
  };
  struct KnownSession {
    int64_t number = 0;
    int64_t last_message = 0;
    int64_t last_notice = 0;
  };
  // A session that this commit adds to, and what it will be.
  struct PlannedSession {
    SessionId id;
    KnownSession after;
    const Session* made = nullptr;  // Inserted, from this; or bare, where it is only somewhere to send notices to.
    bool fresh = false;
    bool changed = false;
  };
  struct PlannedMessage {
    int64_t key = 0;
    EventRange events;
  };
  struct Plan {
    std::vector<PlannedSession> sessions;
    std::vector<PlannedMessage> messages;
    std::vector<int64_t> notices;  // Their seqs.
  };
  using Counts = std::array<int64_t, task_state_count>;

  explicit CommitWriter(Database& db) : db_(&db) {}

  // False, and `failure` is set, where the code is an error.
  bool ok(int code);
  // True: a row is there. False: none, or a failure.
  bool row(Statement& statement);

  Status read_marks();
  // commit_writer.cc: tasks
  KnownTask* find_task(const TaskId& id);
  bool is_tombstone(const TaskId& id, Tombstone& out);
  Status check_task(const Commit& commit, KnownTask*& known);
  void insert_task(const Commit& commit, KnownTask& known);
  void update_task(const Task& after, KnownTask& known);
  void store_result(const Task& after, KnownTask& known);
  void store_labels(const Task& task, int64_t number);
  void drop_labels(const Launch& launch, int64_t number);
  // The title and the labels anew.
  void rewrite_launch(const Task& after, int64_t number);
  void store_usage(const Commit& commit);
  void forget_usage(const Commit::Forget& what, Committed& out);
  void store_events(const Commit& commit, int64_t number, Committed& out);
  void remove_task(const Commit& commit, KnownTask known, Committed& out);
  void forget(const Commit::Forget& what, Committed& out);
  void count(TaskState state, const std::string& batch, int64_t difference);

  // commit_conversation.cc: sessions, messages, notices
  KnownSession* find_session(const SessionId& id);
  PlannedSession* plan_session(const Commit& commit, const SessionId& id, bool may_be_bare, Plan& plan);
  Status plan(const Commit& commit, int64_t seq_before, Plan& out);
  Status plan_messages(const Commit& commit, int64_t seq_before, Plan& out);
  Status plan_notices(const Commit& commit, Plan& out);
  void store_sessions(const Commit& commit, const Plan& plan);
  void store_messages(const Commit& commit, const Plan& plan, Committed& out);
  void store_notices(const Commit& commit, const Plan& plan, Committed& out);
  void take_notices(const Commit& commit);
  void owe(std::string_view task, int64_t difference);
  void remove_session(const SessionId& id);
  void remove_events(int64_t task, int64_t how_many);
  void remove_messages(int64_t session, int64_t how_many);

  Database* db_;
  Kept kept_;
  bool has_garbage_ = false;

  // Of the transaction that is open.
  Kept draft_;
  std::map<std::string, Counts> batches_;  // Differences.
  std::vector<RemovedText> removed_;
  int failure_ = 0;

  // What is known of rows without reading them again. Only this class writes, so it is always right; it is dropped when
  // it is large and after a rollback.
  std::unordered_map<std::string, KnownTask> tasks_;
  std::unordered_map<std::string, KnownSession> sessions_;

  HighMark task_mark_{.prefix = "task_"}, session_mark_{.prefix = "ses_"}, message_mark_{.prefix = "msg_"};

  // The statements of every commit; the rarer ones are in the database's cache.
  Statement insert_task_, update_task_, update_same_state_, insert_launch_, insert_event_, put_message_,
      insert_session_, update_session_, find_task_, find_tombstone_, find_session_, find_message_, keep_;
};

}  // namespace errand::sqlite
