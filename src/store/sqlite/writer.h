// The writer: one thread and the one connection that writes and checkpoints (SQLite 3.40's WAL-reset bug needs two).
//
// Group commit: everything that waits goes into one transaction, which is synced once; a disk that syncs 5,000 times a
// second then stores tens of thousands of tasks. In between it does what need not be answered: it deletes what nobody
// sees any more, gives free pages back to the file system, and checkpoints when idle or when the WAL is large.
//
// What a failure means:
//   the disk is full     The group is answered storage_full and nothing of it is stored. Commits that remove something
//                        are tried again with the ballast given up; until there is space again only such are taken.
//   locked by a stranger Answered unavailable after 5 s.
//   damaged file         Answered unavailable, reason "damaged", from then on (condition.h). Reads go on.
//   its name is gone     Looked at before each COMMIT: answered unavailable, reason "unlinked", from then on. What the
//                        open file holds is saved beside it (PATH.rescued), as it is lost with the process.
//   anything else        (a failed write or sync): nothing is answered any more and the process ends: what is on the
//   disk
//                        is not known, and recovery finds out.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "store/sqlite/ballast.h"
#include "store/sqlite/commit_writer.h"
#include "store/sqlite/condition.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace errand::sqlite {

class Writer {
 public:
  struct Parts {
    Executor& answers;
    // Called on the writer's thread behind each transaction, before its answers. While space is short nobody else
    // should take any.
    std::function<void(std::vector<RemovedText>, bool space_is_short)> stored;
    // The process ends here; a test's may return, and then nothing is answered any more.
    std::function<void(const std::string& message)> fatal;
    Condition& condition;
    // The files that a commit goes to: the database, then its WAL. None where they are no files (a test's own VFS).
    std::vector<FileIdentity> files;
  };

  // Starts the thread. `db` is open for writing, migrated, and used by nobody else.
  Writer(Database db, CommitWriter commits, Ballast ballast, Parts parts);
  ~Writer() { stop(); }
  static Result<std::unique_ptr<Writer>> start(Database db, Ballast ballast, Parts parts);

  void commit(Store::Group group, Store::Answer answer);

  // Stores what waits, checkpoints, and ends the thread.
  void stop();

  // As of the last transaction that is on the disk.
  StateCounts counts();
  int64_t last_pos();

  Writer(const Writer&) = delete;

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

  void run();
  void store(std::vector<Group>& groups);
  // Takes groups that wait, of about `most` commits together. Returns those that can be stored.
  std::vector<Item> take(std::vector<Group>& groups, size_t most);
  void sync_files(std::vector<Item>& items);
  void refuse_while_full(std::vector<Item>& items);
  void refuse_where_lost(std::vector<Item>& items);
  // The names still stand for what is written to. False, and it is noted, where they do not.
  bool has_files();
  // Saves what the open file holds and its name no longer stands for.
  void rescue();
  // One attempt: 0, or SQLite's code, rolled back.
  int attempt(std::vector<Group>& groups, std::vector<Item>& items);
  int end_transaction();
  void settle_failed(std::vector<Item>& items, int code);
  void answer(std::vector<Group> groups);
  void publish();
  // Something was done, and there may be more.
  bool housekeep(bool idle);
  // Gives a few free pages back to the file system. True: there are more.
  bool shrink();
  void checkpoint(bool whole);
  void die(int code, const char* doing);

  Database db_;
  CommitWriter commits_;
  Ballast ballast_;
  Parts parts_;
  // The writer thread's own.
  bool dead_ = false;
  int wal_pages_ = 0;  // Not yet checkpointed; set by SQLite's hook.
  int checkpoint_at_ = 0;
  int64_t next_ballast_try_ms_ = 0;
  bool to_rescue_ = false;
  bool shrank_ = false;     // And the file does not know it yet.
  bool may_shrink_ = true;  // Something was deleted since there were last too few free pages to bother.

  Mutex mutex_;
  Wakeup wake_;
  std::deque<Group> waiting_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  StateCounts counts_ GUARDED_BY(mutex_);
  int64_t last_pos_ GUARDED_BY(mutex_) = 0;

  std::thread thread_;
};

}  // namespace errand::sqlite
