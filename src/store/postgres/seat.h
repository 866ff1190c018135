// This server's row among the servers of a database: the right to write.
//
// Every transaction that writes counts the row's `commits` up by one. That is the fence: whoever takes the database
// over deletes the row (and waits for a transaction under way), and what comes later finds none. It is also the memory
// of what was stored: after a lost connection the number tells whether the last transaction was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/postgres/connection.h"

namespace errand::postgres {

inline constexpr Millis lease_ms = 30'000;
inline constexpr Millis beat_ms = 10'000;

class Seat {
 public:
  // conflict ("owned"): a server elsewhere has the database, and has said so within the last 30 s. One with the same
  // `place` is this server's own predecessor: its caller holds the lock of the place, so that one is gone.
  static Result<Seat> take(Connection& db, const std::string& place);

  // Queues the fence of a transaction, behind the lock of `meta`; `holds` reads the answer. The lease begins anew with
  // it.
  size_t fence(Connection& db) const;
  static bool holds(const Rows& fence) { return fence.affected() == 1; }
  // The transaction was stored.
  void stored() { ++commits_; }

  // Prolongs the lease. False: the row is gone.
  Result<bool> beat(Connection& db) const;
  // How many transactions of this server are stored, when none is under way any more. Nothing: the row is gone.
  Result<std::optional<int64_t>> count(Connection& db) const;
  int64_t commits() const { return commits_; }

  // Leaves: another server may begin at once. False: it was not heard.
  bool leave(Connection& db) const;

 private:
  std::string id_;
  int64_t commits_ = 0;
};

}  // namespace errand::postgres
