#include "store/postgres/seat.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/id.h"
#include "base/log.h"

namespace errand::postgres {
namespace {

// The database's clock alone decides when a lease is over.
#define ERRAND_DATABASE_NOW "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

Error held(const Row& row) {
  return {
      Code::conflict,
      fmt::format("Another errand server (process {} on {}) uses this database: one server at a time can. Stop it, or "
                  "wait {} s if it has crashed.",
                  row.integer(3), row.text(2), std::max<int64_t>(1, (lease_ms - row.integer(4) + 999) / 1'000)),
      "owned"};
}

Status make_room(Connection& db, const std::string& place) {
  const Result<Rows> servers =
      db.run("SELECT id, place, host, pid, " ERRAND_DATABASE_NOW " - beat FROM servers ORDER BY beat FOR UPDATE");
  if (!servers) return std::unexpected(servers.error());
  for (int i = 0; i < servers->count(); ++i) {
    const Row row{*servers, i};
    if (row.text(1) != place && row.integer(4) < lease_ms) return std::unexpected(held(row));
  }
  for (int i = 0; i < servers->count(); ++i) {
    const Row row{*servers, i};
    if (row.text(1) != place)
      log_warning("store", fmt::format("taking the database over from process {} on {}, which has been silent for {} s",
                                       row.integer(3), row.text(2), row.integer(4) / 1'000));
    if (const Result<Rows> gone = db.run("DELETE FROM servers WHERE id = $1", Values().add(row.text(0))); !gone)
      return std::unexpected(gone.error());
  }
  return {};
}

}  // namespace

Result<Seat> Seat::take(Connection& db, const std::string& place) {
  SystemRandom random;
  Seat seat;
  seat.id_ = fmt::format("{:016x}{:016x}", random.next(), random.next());
  if (const Result<Rows> begun = db.run("BEGIN"); !begun) return std::unexpected(begun.error());
  // Of two that start at once, one waits here for the other.
  const Result<Rows> locked = db.run("SELECT one FROM meta WHERE one = 1 FOR UPDATE");
  Status taken = locked ? make_room(db, place) : Status(std::unexpected(locked.error()));
  if (taken) {
    const Result<Rows> put =
        db.run("INSERT INTO servers (id, place, host, pid, beat) VALUES ($1, $2, $3, $4, " ERRAND_DATABASE_NOW ")",
               Values().add(seat.id_).add(place).add(host_name()).add(::getpid()));
    if (!put) taken = std::unexpected(put.error());
  }
  if (db.is_up()) {
    const Result<Rows> ended = db.run(taken ? "COMMIT" : "ROLLBACK");
    if (taken && !ended) taken = std::unexpected(ended.error());
  }
  if (!taken) return std::unexpected(taken.error());
  return seat;
}

size_t Seat::fence(Connection& db) const {
  return db.send("UPDATE servers SET commits = $2::bigint, beat = " ERRAND_DATABASE_NOW
                 " WHERE id = $1 AND commits = $2::bigint - 1",
                 Values().add(id_).add(commits_ + 1));
}

Result<bool> Seat::beat(Connection& db) const {
  const Result<Rows> done =
      db.run("UPDATE servers SET beat = " ERRAND_DATABASE_NOW " WHERE id = $1", Values().add(id_));
  if (!done) return std::unexpected(done.error());
  return holds(*done);
}

Result<std::optional<int64_t>> Seat::count(Connection& db) const {
  const Result<Rows> found = db.run("SELECT commits FROM servers WHERE id = $1 FOR UPDATE", Values().add(id_));
  if (!found) return std::unexpected(found.error());
  if (found->count() == 0) return std::nullopt;
  return found->integer(0, 0);
}

bool Seat::leave(Connection& db) const {
  return db.is_up() && db.run("DELETE FROM servers WHERE id = $1", Values().add(id_));
}

}  // namespace errand::postgres
