// The search index: an FTS5 table in a file of its own, written by a thread of its own behind the answers.
//
// Why a file of its own: what it holds can be made again from the database at any time, so it need not be durable; its
// merges, which can take long, never hold up a commit; and each of the two files still has exactly one connection that
// writes and checkpoints. A file that is missing, damaged, or belongs to another database is made anew.
//
// How far it is stands in the index itself (`tasks.n` and `results.r` up to which it has everything), in the same
// transaction as the rows: so a reader of the index knows exactly what it has to look through besides, and a crash at
// any moment costs nothing. A search is therefore right at once after a commit.
//
// A task's grams are only ever added (a later result adds to those of an earlier one) or removed together with the
// task; who searches looks into the text itself, so a gram too many costs time and never a wrong answer.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "store/sqlite/commit_writer.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

// Everything up to these is in the index.
struct Indexed {
  int64_t task = 0;
  int64_t result = 0;
};
// Of an open index; in the caller's snapshot.
Result<Indexed> read_indexed(Database& index);

class SearchIndex {
 public:
  struct Files {
    std::string database;
    std::string index;
    std::string vfs;
  };

  // Opens or makes the index, and starts the thread that catches up.
  static Result<std::unique_ptr<SearchIndex>> start(Files files);
  ~SearchIndex();

  // Something was stored; `removed` went. Where space is short the index waits until it is told otherwise. Any thread.
  void stored(std::vector<RemovedText> removed, bool space_is_short);

  // A connection for reading it.
  Result<Database> open_reader() const;

  SearchIndex(const SearchIndex&) = delete;

 private:
  SearchIndex(Files files, Database index, Database source);

  void run();
  // Adds a batch of what is not there yet. True: there may be more.
  Result<bool> catch_up();
  Status remove(const std::vector<RemovedText>& removed);
  // Behind many removals: merges a piece, so that what was removed goes from the index, or gives pages back. True:
  // there is more to do.
  Result<bool> tidy();
  Status note(const Indexed& indexed);
  void fell_behind(const Error& error);
  void checkpoint();

  Files files_;
  Database index_;   // The index's one writer.
  Database source_;  // Reads the database.
  int wal_pages_ = 0;
  size_t untidy_ = 0;  // Tasks that were removed since it was last tidied up.
  bool merging_ = false;

  Mutex mutex_;
  Wakeup wake_;
  std::vector<RemovedText> removed_ GUARDED_BY(mutex_);
  size_t removed_bytes_ GUARDED_BY(mutex_) = 0;
  bool dirty_ GUARDED_BY(mutex_) = true;
  bool waits_for_space_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

// How readers open either file: they never write and never checkpoint.
Result<Database> open_for_reading(const std::string& path, const std::string& vfs);

}  // namespace errand::sqlite
