// Batches: the tasks that share a batch id (R7), counted. A batch is whole when all of its tasks are over; whoever is
// the last says so in the commit of its end. So what is counted here includes the moves whose commits are under way,
// each of which may yet be refused.
//
// Bookkeeping only: it reads no store and decides no task. Engine thread only, but read_batch. A batch with a task at
// work or in line is always here; of the others as many as it is worth.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/store.h"
#include "task/notice.h"
#include "task/task.h"

namespace errand {

// Why a task of a batch failed: for the notice that tells of the whole batch.
struct BatchFailure {
  std::string title, code, message;
};
using BatchFailures = std::map<TaskId, BatchFailure>;
inline constexpr size_t batch_failures_max = 20;

struct StoredBatch {
  BatchCounts counts;
  BatchFailures failures;  // The first ones.
};
// A batch as it is stored; without tasks where there is none. Blocking; any reader thread.
Result<StoredBatch> read_batch(Store& store, const BatchId& id);
// not_found, for callers.
std::unexpected<Error> no_batch(const BatchId& id);

// Where a task of a batch is.
struct BatchPlace {
  std::optional<TaskState> state;  // Nothing: it is not in the batch (yet, or any more).
  bool stopping = false;

  static BatchPlace of(const Task& task) { return {task.state, task.stopping}; }
  // Not over: it works, or what is left of it is being stopped.
  bool works() const { return state && (stopping || at_work(*state)); }
  // At rest, and not over: it has yet to tell of its end.
  bool stops() const { return state && stopping && !at_work(*state); }
  bool operator==(const BatchPlace&) const = default;
};
struct BatchMove {
  BatchId batch;
  BatchPlace from, to;
};
using BatchMoves = std::vector<BatchMove>;  // Of one commit.

class Batches {
 public:
  bool knows(const BatchId& id) const { return batches_.contains(id); }
  // As it was read; of one that is known nothing changes: it was counted on meanwhile.
  void add(const BatchId& id, StoredBatch stored = {});
  // After a start: a task that is at work, or being stopped, is taken up.
  void take_up(const Task& task);

  // A commit that is being put together moves a task; it is noted in `moves`, too. Nothing for a batch that is not
  // known.
  void move(BatchMoves& moves, const BatchId& id, BatchPlace from, BatchPlace to);
  // The task is in another state: it failed, or works again.
  void note_failure(const Task& task);
  // With the moves of one commit, are all of its batch over? Not known where that depends on the commits of others that
  // are under way: a launch into the batch, or another's end. Then the commit waits: undo it, and hold() its task.
  std::optional<bool> is_whole(const BatchId& id, const BatchMoves& own) const;
  // All of the batch of this task are over: what became of them, and which of them failed.
  Notice whole_notice(const Task& last, NoticeId id, Time now) const;
  // The commit is not made.
  void undo(const BatchMoves& moves);
  // The task is to be decided again once the moves of others are settled.
  void hold(const Task& task);
  // The commit is durable, or was refused. Returns the tasks that waited for it.
  std::vector<TaskId> settle(const BatchMoves& moves, bool stored);

  // The counts as they are stored; nothing of one that is not known.
  std::optional<BatchCounts> stored(const BatchId& id) const;
  // Lets it go where it can be read again when it is needed: one without any task, or, where there are very many, one
  // of which nothing works or moves.
  void let_go(const BatchId& id);

 private:
  struct Batch {
    BatchCounts stored;
    BatchCounts counts;                 // With the moves under way:
    int begins = 0, comes_to_rest = 0;  // so many to work, so many from it.
    int64_t stopping = 0;               // At rest in `counts`, and not over.
    std::vector<TaskId> held;
    BatchFailures failures;
  };
  Batch* find(const BatchId& id);
  static void count(Batch& batch, const BatchPlace& from, const BatchPlace& to);

  std::unordered_map<BatchId, Batch> batches_;
};

}  // namespace errand
