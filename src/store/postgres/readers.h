// Connections for reading, borrowed for one call at a time. Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "store/postgres/condition.h"
#include "store/postgres/connection.h"

namespace errand::postgres {

class Readers {
 public:
  // `lost` is called when a connection was: the writer looks whether PostgreSQL is there. Connections are made when
  // they are needed.
  Readers(ConnectOptions connect, int connections, Condition& condition, std::function<void()> lost);

  // Calls `question` with a connection, and once more on a new one where the first was lost: a server that was
  // restarted is not noticed. Damage that is met is noted.
  template <class Question>
  auto ask(Question question) -> decltype(question(std::declval<Connection&>())) {
    Lease lease(*this);
    for (bool again = false;; again = true) {
      if (!lease.connection().is_up())
        if (const Status made = connect(lease.connection()); !made) return std::unexpected(made.error());
      auto answer = question(lease.connection());
      if (answer) return answer;
      // A transaction that it left open.
      if (lease.connection().is_up()) end_transaction(lease.connection());
      if (answer.error().reason != reason::away || again) {
        condition_.note(answer.error());
        return answer;
      }
      lost_();
    }
  }

 private:
  class Lease {
   public:
    explicit Lease(Readers& owner) : owner_(owner), connection_(owner.borrow()) {}
    Lease(const Lease&) = delete;
    ~Lease() { owner_.give_back(std::move(connection_)); }
    Connection& connection() { return *connection_; }

   private:
    Readers& owner_;
    std::unique_ptr<Connection> connection_;
  };
  std::unique_ptr<Connection> borrow();  // Waits where all are out.
  void give_back(std::unique_ptr<Connection> connection);
  Status connect(Connection& connection);
  static void end_transaction(Connection& connection);

  const ConnectOptions options_;
  Condition& condition_;
  const std::function<void()> lost_;
  Mutex mutex_;
  Wakeup wake_;
  std::vector<std::unique_ptr<Connection>> free_ GUARDED_BY(mutex_);
};

}  // namespace errand::postgres
