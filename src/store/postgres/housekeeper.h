// What is done behind the commits, on a thread and a connection of its own: texts are put into the search index, and
// what nobody sees any more is deleted bit by bit.
//
// It may be behind for as long as it likes: a search looks through what is not indexed itself. It needs no seat: what
// it reads is marked with a version, and numbers are never used again.
#pragma once

#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "store/postgres/connection.h"

namespace errand::postgres {

class Housekeeper {
 public:
  explicit Housekeeper(ConnectOptions connect);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;

  // There is something to do. Threads: any.
  void wake();

 private:
  void run();
  // True: there may be more.
  Result<bool> index();
  Result<bool> sweep();

  const ConnectOptions options_;
  Connection db_ = Connection::none();
  Mutex mutex_;
  Wakeup wake_;
  bool dirty_ GUARDED_BY(mutex_) = true;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace errand::postgres
