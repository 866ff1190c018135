// Purses: what was used of budgets (R4.4). A task's budget is shared with the tasks that it launches: what each of them
// has used is counted in the purse of everybody who pays for it. Whoever uses something while a purse is empty is
// ended, with code `budget`.
//
// A purse is derived: it is read from the store when a turn of a member begins, and followed from there until no member
// is at work. The numbers are totals of each member, which only grow: reading and following cannot count twice.
//
// Bookkeeping only: it ends no task and sets no timer. Engine thread only, but read_purses.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/store.h"
#include "task/task.h"

namespace errand {

// What was used of one task's budget, by it and by the tasks that it launched.
struct Purse {
  struct Spent {
    int64_t tokens = 0;
    double cost_usd = 0;
    int64_t turns = 0;
    int64_t tool_calls = 0;
    bool operator==(const Spent&) const = default;
  };
  TaskId payer;
  Budget limit;
  Time began;  // Wall time: where its wall time counts from. Never: it was resumed, and counts from its next turn.
  std::unordered_map<TaskId, Spent> members;
  Spent all;  // Of all members.
  std::unordered_set<TaskId> at_work;

  // What a member has used by now, of which nothing goes down. True where it is more than was known.
  bool raise(const TaskId& member, const Spent& now);
};

// Why whoever uses this purse is ended; nothing while there is something left. Its wall time is not looked at.
std::optional<TaskError> over_budget(const Purse& purse);

// The purses of these payers, as they are stored; of a payer that is gone there is none. Blocking; any reader thread.
Result<std::vector<Purse>> read_purses(Store& store, const std::vector<TaskId>& payers);

class Purses {
 public:
  // A turn of this task is about to begin: it is a member of each purse that is known. Returns the payers whose purse
  // is not, to be read and given to open(). One that is known has all its members: reading them again for each of ten
  // thousand siblings would be a hundred million reads.
  std::vector<TaskId> join(const Task& task);
  // Purses that were read for this task's turn. What was counted here meanwhile stays counted.
  void open(const Task& task, std::vector<Purse> read, Time now);
  // Takes over what the task, as it is stored, has used. The answer says why it is to be ended: over what it uses
  // itself, or, with `begins`, because the purse was empty before. It is never ended because of what it hears of
  // others.
  std::optional<TaskError> spend(const Task& task, bool begins);
  // Is one of these purses empty? Those that are not known are not.
  std::optional<TaskError> over(const std::vector<TaskId>& payers) const;

  struct WallTime {
    Millis left = 0;  // May be over already: negative.
    Millis limit = 0;
  };
  // What is left of the shortest wall time that this task is paid for; nothing where no purse has one.
  std::optional<WallTime> wall_time(const Task& task, Time now) const;

  size_t size() const { return by_payer_.size(); }

 private:
  std::unordered_map<TaskId, Purse> by_payer_;
};

}  // namespace errand
