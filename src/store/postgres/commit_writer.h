// Puts commits into the tables, inside the writer's transaction. It knows rows and numbers; when a transaction begins
// and ends, and what a failed one means, is the writer's business (writer.h).
//
// A transaction has two flights: what the commits depend on is looked up; then all of them are decided in memory and
// their rows are written, with the COMMIT behind them. The writer holds the lock of `meta`, so what was looked up stays
// true until then. Nothing is kept from one transaction to the next.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/postgres/connection.h"
#include "store/rules.h"
#include "store/store.h"

namespace errand::postgres {

// The one row of `meta`: what is kept instead of counted.
struct Kept {
  int64_t last_pos = 0;
  int64_t last_task = 0;
  int64_t last_session = 0;
  StateCounts counts;
};
extern const char* const kept_columns;
Kept read_kept(const Row& row);

class CommitWriter {
 public:
  explicit CommitWriter(Connection& db) : db_(db) {}

  // After BEGIN. `kept` is what the locked row of `meta` holds.
  void begin(const Kept& kept);

  // Queues the questions that these commits depend on; `take_answers` gets the answers, from `first` on.
  void look_up(std::span<const Commit* const> commits);
  void take_answers(const std::vector<Rows>& answers, size_t first);

  // Decides a commit and queues its rows. Refused: the error, and nothing is queued. `out` is complete when the rows
  // are written (`written`), and must stay where it is until then.
  Status apply(const Commit& commit, Committed& out);
  // Queues what is written once a transaction: events, counts, what is kept.
  void finish();
  // The answers to a flight that had rows of `apply` in it, from its beginning.
  void written(const std::vector<Rows>& answers);

  const Kept& kept() const { return kept_; }
  // Something was stored that the housekeeper should know of.
  bool has_work_behind() const { return work_behind_; }

 private:
  struct KnownTask {
    int64_t number = 0;
    int64_t version = 0;
    int64_t last_seq = 0;
    TaskState state = TaskState::pending;
    std::optional<int64_t> result_sum;
    std::string batch, parent, session;
  };
  struct KnownSession {
    int64_t number = 0;
    int64_t last_message = 0;
    int64_t last_notice = 0;
  };
  struct KnownMessage {
    int64_t session = 0;
    int64_t seq = 0;
    int64_t from_seq = 0;
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
    KnownMessage place;
    EventRange events;
  };
  struct Plan {
    std::vector<PlannedSession> sessions;
    std::vector<PlannedMessage> messages;
    std::vector<int64_t> notices;  // Their seqs.
  };
  using Counts = std::array<int64_t, task_state_count>;

  // commit_writer.cc: tasks
  KnownTask* find_task(const TaskId& id);
  Status check_task(const Commit& commit, KnownTask*& known);
  void insert_task(const Task& task, KnownTask& known);
  void update_task(const Commit& commit, KnownTask& known);
  void store_result(const Task& after, KnownTask& known);
  void store_labels(const Task& task, int64_t number);
  void store_events(const Commit& commit, int64_t number, Committed& out);
  void put_events();
  void store_rest(const Commit& commit);
  void remove_task(const Commit& commit, const KnownTask& known, Committed& out);
  void forget(const Commit::Forget& what, Committed& out);
  void count(TaskState state, const std::string& batch, int64_t difference);

  // commit_conversation.cc: sessions, messages, notices
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

  Connection& db_;
  Kept kept_;

  // What is there, of the things that the commits name; and what they have made of it so far.
  std::unordered_map<std::string, KnownTask> tasks_;
  std::unordered_map<std::string, Tombstone> tombstones_;
  std::unordered_map<std::string, KnownSession> sessions_;
  std::unordered_map<std::string, KnownMessage> messages_;
  std::unordered_set<std::string> notices_, keys_;

  std::map<std::string, Counts> batches_;  // Differences.
  std::map<int64_t, int64_t> unindexed_;   // Number and version of tasks that the search index has to read again.
  bool work_behind_ = false;

  // Events that are not queued yet: one statement for many.
  struct {
    std::vector<int64_t> pos, task, seq, type, at;
    std::vector<std::string_view> data;
  } events_;
  size_t event_bytes_ = 0;

  // What an answer is good for: the place of the statement in its flight, and who waits for it.
  std::vector<std::pair<size_t, std::function<void(const Rows&)>>> waiting_;
};

}  // namespace errand::postgres
