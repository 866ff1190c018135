// Reads every sealed row once, so that damage is known before somebody meets it (sqlite/seal.h). In small steps: no
// transaction stays open, so no checkpoint waits for it.
#pragma once

#include <string>
#include <thread>

#include "base/mutex.h"
#include "store/sqlite/condition.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

class RowCheck {
 public:
  // At most `rows` of them. True: there may be more. An error with reason "corrupt": a damaged row.
  Result<bool> step(Database& db, int rows);

 private:
  int table_ = 0;
  int64_t after_ = -1;
};

// The same behind a start, on a thread of its own, for a database that is too large to be read through before it.
class Inspection {
 public:
  Inspection(Database db, Condition& condition);
  ~Inspection();
  Inspection(const Inspection&) = delete;

 private:
  void run();

  Database db_;
  Condition& condition_;
  Mutex mutex_;
  Wakeup wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace errand::sqlite
