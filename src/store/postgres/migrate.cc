#include "store/postgres/migrate.h"

#include <fmt/format.h>

#include "base/log.h"

namespace errand::postgres {
namespace {

constexpr int64_t lock_number = 0x657272616e64;  // "errand": an advisory lock is known by a number alone.

struct Found {
  bool has_schema = false;
  bool has_meta = false;
  int64_t version = 0;
};

Result<Found> look(Connection& db, const std::string& schema) {
  Found found;
  Result<Rows> rows = db.run(
      "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')), (SELECT count(*) FROM "
      "pg_tables WHERE schemaname = convert_from($1, 'UTF8') AND tablename = 'meta'), (SELECT count(*) FROM pg_tables "
      "WHERE schemaname = convert_from($1, 'UTF8'))",
      Values().add(schema));
  if (!rows) return std::unexpected(rows.error());
  found.has_schema = rows->integer(0, 0) > 0;
  found.has_meta = rows->integer(0, 1) > 0;
  if (!found.has_meta) {
    if (rows->integer(0, 2) > 0)
      return fail(Code::conflict,
                  fmt::format("The schema {} of this database has tables that are not errand's: give errand a database "
                              "of its own.",
                              schema));
    return found;
  }
  rows = db.run("SELECT schema FROM meta WHERE one = 1");
  if (!rows) return std::unexpected(rows.error());
  found.version = rows->count() == 1 ? rows->integer(0, 0) : 0;
  return found;
}

Status step(Connection& db, const Migration& migration) {
  log_info("store", fmt::format("bringing the database to schema {} ({})", migration.version, migration.name));
  return db.script(fmt::format("{}\nUPDATE meta SET schema = {} WHERE one = 1;", migration.sql, migration.version));
}

// In a transaction that holds the lock.
Status bring_up(Connection& db, const std::string& schema) {
  const Result<Found> found = look(db, schema);
  if (!found) return std::unexpected(found.error());
  const auto newest = static_cast<int64_t>(migrations().size());
  if (found->version > newest)
    return fail(Code::unsupported,
                fmt::format("The database has schema {}, and this errand knows {}: use the errand that wrote it, or a "
                            "newer one.",
                            found->version, newest));
  if (!found->has_schema)
    if (const Status made = db.script(fmt::format("CREATE SCHEMA \"{}\"", schema)); !made) return made;
  for (const Migration& migration : migrations()) {
    if (migration.version <= found->version) continue;
    if (const Status done = step(db, migration); !done) return done;
  }
  return {};
}

}  // namespace

Status migrate(Connection& db, const std::string& schema) {
  if (const Result<Rows> begun = db.run("BEGIN"); !begun) return std::unexpected(begun.error());
  const Result<Rows> locked = db.run("SELECT pg_advisory_xact_lock($1)", Values().add(lock_number));
  Status done = locked ? bring_up(db, schema) : Status(std::unexpected(locked.error()));
  if (!db.is_up()) return done;
  const Result<Rows> ended = db.run(done ? "COMMIT" : "ROLLBACK");
  if (done && !ended) return std::unexpected(ended.error());
  return done;
}

}  // namespace errand::postgres
