#include "store/postgres/readers.h"

namespace errand::postgres {

Readers::Readers(ConnectOptions connect, int connections, Condition& condition, std::function<void()> lost)
    : options_(std::move(connect)), condition_(condition), lost_(std::move(lost)) {
  for (int i = 0; i < connections; ++i) free_.push_back(std::make_unique<Connection>(Connection::none()));
}

std::unique_ptr<Connection> Readers::borrow() {
  Lock lock(mutex_);
  wake_.wait(lock, [&]() REQUIRES(mutex_) { return !free_.empty(); });
  std::unique_ptr<Connection> connection = std::move(free_.back());
  free_.pop_back();
  return connection;
}

void Readers::give_back(std::unique_ptr<Connection> connection) {
  {
    const Lock lock(mutex_);
    free_.push_back(std::move(connection));
  }
  wake_.notify_one();
}

// The writer alone waits for a server that does not answer: whoever reads is told at once.
Status Readers::connect(Connection& connection) {
  if (condition_.is_away()) return fail(Code::unavailable, condition_.health().text, std::string(reason::away));
  Result<Connection> made = Connection::open(options_);
  if (!made) {
    lost_();
    return std::unexpected(made.error());
  }
  connection = std::move(*made);
  return {};
}

void Readers::end_transaction(Connection& connection) {
  if (!connection.run("ROLLBACK")) connection.close();
}

}  // namespace errand::postgres
