// The writer: one thread and the one connection of this server that writes.
//
// Group commit: everything that waits goes into one transaction, in two flights (commit_writer.h).
//
// What a failure means:
//   the connection is lost   Before COMMIT was sent nothing is stored: tried once more on a new connection, else
//   answered
//                            unavailable, reason "away". Behind it nobody knows: the group is answered when PostgreSQL
//                            is back and says so (seat.h), and what comes meanwhile is answered "away" at once.
//   PostgreSQL is read-only, As away.
//   starts, or is full of
//   connections
//   no space                 The group is answered storage_full.
//   a value breaks a rule    That commit is answered internal; the others are tried again without it.
//   the seat is taken        Answered unavailable, reason "taken", from then on. Reads go on.
//   damage                   Answered unavailable, reason "damaged", from then on.
//   commits were lost        (a fail-over to a copy that was behind, a restored backup): the process ends, because what
//                            it knows is more than what is stored. Recovery takes up what is there.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "store/postgres/commit_writer.h"
#include "store/postgres/condition.h"
#include "store/postgres/connection.h"
#include "store/postgres/seat.h"
#include "store/store.h"

namespace errand::postgres {

class Writer {
 public:
  struct Parts {
    Executor& answers;
    Condition& condition;
    ConnectOptions connect;
    std::function<void()> work_behind;  // There is something to index or to sweep. On the writer's thread.
    std::function<void(const std::string& message)> fatal;  // The process ends here.
  };

  // Starts the thread.
  Writer(Connection db, Seat seat, const Kept& kept, Parts parts);
  ~Writer() { stop(); }
  Writer(const Writer&) = delete;

  void commit(Store::Group group, Store::Answer answer);
  // Looks whether PostgreSQL answers: somebody has lost his connection. Does not wait.
  void look();

  // Stores what waits, leaves the seat, and ends the thread.
  void stop();

  // As of the last transaction that is durable.
  StateCounts counts();
  int64_t last_pos();

 private:
  struct Group {
    Store::Group commits;
    Store::Answer answer;
    std::vector<std::optional<Result<Committed>>> results;
  };
  // One commit of a group that has no answer yet.
  struct Item {
    const Commit* commit;
    std::optional<Result<Committed>>* result;
  };
  enum class Outcome : uint8_t { stored, not_stored, unknown };

  void run();
  std::vector<Group> take();
  void store(std::vector<Group>& groups);
  // The items of a transaction: those whose files could be synced.
  static std::vector<Item> items_of(std::vector<Group>& groups);
  static void sync_files(std::vector<Item>& items);
  Outcome attempt(std::vector<Item>& items);
  // What is left of items after a transaction that was not stored: those to try again.
  void settle(std::vector<Item>& items);
  // Connects anew where it must, and knows what was stored. False: it is away, or lost for good.
  bool connect();
  // As long as it takes: whether the transaction with this number, which had these commits, was stored. Nothing: nobody
  // can say.
  std::optional<bool> find_out(int64_t number, std::vector<Item>& items);
  bool read_what_it_left(std::vector<Item>& items);
  void beat();
  void gone_for_good();
  void refuse_waiting();
  void answer(std::vector<Group> groups);
  static void answer_all(std::vector<Item>& items, const Error& error);

  Connection db_;
  Seat seat_;
  Parts parts_;
  // The writer thread's own.
  Error failure_;           // Of the last attempt.
  size_t culprit_ = 0;      // The item whose value broke a rule; items.size() and more: none.
  int again_ = 0;           // Attempts that met a lock, in a row.
  bool unsettled_ = false;  // A transaction is under way of which nobody knows.

  Mutex mutex_;
  Wakeup wake_;
  std::deque<Group> waiting_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  bool look_ GUARDED_BY(mutex_) = false;
  Kept kept_ GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace errand::postgres
