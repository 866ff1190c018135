#include "store/sqlite/migrate.h"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"

namespace errand::sqlite {
namespace {

constexpr int64_t application_id = 0x65727264;  // "errd": `file` and we know the file by it.

// A name is on the disk when its folder is.
Status sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  if (!synced) return fail(Code::internal, fmt::format("The folder of {} cannot be synced.", path), "io");
  return {};
}

Status copy_before(Database& db, const Migration& step) {
  const std::string target = fmt::format("{}.before-{:03}", db.path(), step.version);
  if (const Status copied = copy_database(db, target); !copied)
    return fail(copied.error().code,
                fmt::format("The database could not be copied before its upgrade, so it was left unchanged. {}",
                            copied.error().message),
                copied.error().reason);
  log_info("store", fmt::format("copied the database to {} before migration {}", target, step.name));
  return {};
}

Status apply(Database& db, const Migration& step) {
  const std::string sql =
      fmt::format("BEGIN IMMEDIATE;\n{}\nPRAGMA user_version = {};\nCOMMIT;", step.sql, step.version);
  const Status done = db.exec(sql);
  if (done) return {};
  if (db.in_transaction()) db.exec_code("ROLLBACK");
  return fail(done.error().code,
              fmt::format("Migration {} ({}) failed and was undone: {}", step.version, step.name, done.error().message),
              done.error().reason);
}

}  // namespace

// VACUUM INTO reads one moment and writes a whole new file; it does not go through the WAL and needs no lock.
Status copy_database(Database& db, const std::string& target) {
  const std::string unfinished = target + ".part";
  ::unlink(unfinished.c_str());
  // Made empty by us, so that nobody else may ever read it.
  const int file = ::open(unfinished.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return fail(Code::internal, fmt::format("Cannot make the copy {}: check its folder.", unfinished));
  Statement& copy = db.cached("VACUUM INTO ?1");
  int code = copy.bind(1, unfinished).run();
  if (code == SQLITE_OK && ::fsync(file) != 0) code = SQLITE_IOERR_FSYNC;
  ::close(file);
  if (code != SQLITE_OK) {
    Error error = db.error(code, "copy it");
    ::unlink(unfinished.c_str());
    return std::unexpected(std::move(error));
  }
  if (std::rename(unfinished.c_str(), target.c_str()) != 0)
    return fail(Code::internal, fmt::format("Cannot rename the copy to {}: check its folder.", target));
  return sync_folder(target);
}

Status rescue_database(Database& db, const std::string& path) {
  if (const Status copied = copy_database(db, path + ".rescuing"); !copied) return copied;
  return finish_rescue(path);
}

Status finish_rescue(const std::string& path) {
  const std::string whole = path + ".rescuing", rescued = path + ".rescued", wal = path + "-wal";
  if (::access(whole.c_str(), F_OK) != 0) return {};
  if ((::unlink(wal.c_str()) != 0 && errno != ENOENT) || std::rename(whole.c_str(), rescued.c_str()) != 0)
    return fail(Code::internal,
                fmt::format("Cannot delete {} and rename {} to {}: do both by hand.", wal, whole, rescued));
  return sync_folder(rescued);
}

Status migrate(Database& db, const std::vector<Migration>& steps, const std::string& vfs) {
  const Result<int64_t> version = db.number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const Result<int64_t> owner = db.number("PRAGMA application_id");
  if (!owner) return std::unexpected(owner.error());
  const Result<int64_t> tables = db.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());

  if (*tables > 0 && *owner != application_id)
    return fail(Code::conflict,
                fmt::format("The file {} belongs to another program: choose another data folder.", db.path()),
                "foreign");
  const int newest = steps.empty() ? 0 : steps.back().version;
  if (*version > newest)
    return fail(
        Code::unsupported,
        fmt::format("The database {} has schema {}, and this errand knows {} at most: start the newer errand that "
                    "made it, or restore the copy from before the upgrade.",
                    db.path(), *version, newest),
        "newer_schema");
  if (*tables == 0) {
    if (const Status marked = db.exec(fmt::format("PRAGMA application_id = {}", application_id)); !marked)
      return marked;
  }
  for (const Migration& step : steps) {
    if (step.version <= *version) continue;
    // A test's own VFS has no files to copy.
    if (*version > 0 && vfs.empty()) {
      if (const Status copied = copy_before(db, step); !copied) return copied;
    }
    if (const Status applied = apply(db, step); !applied) return applied;
    if (*version > 0) log_info("store", fmt::format("schema {}: {}", step.version, step.name));
  }
  return {};
}

Status make_database(const std::string& path, const std::vector<Migration>& steps) {
  const std::string unfinished = path + ".new";
  for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((unfinished + suffix).c_str());
  const int file = ::open(unfinished.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return fail(Code::unavailable, fmt::format("{} cannot be made: check its folder.", unfinished));
  Status made;
  {
    Result<Database> db = Database::open(unfinished, Database::Mode::read_write, {});
    made = db ? db->exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
              : std::unexpected(db.error());
    if (made) made = migrate(*db, steps, {});
  }
  if (made && ::fsync(file) != 0) made = fail(Code::internal, fmt::format("{} cannot be synced.", unfinished), "io");
  ::close(file);
  if (!made) return made;
  if (std::rename(unfinished.c_str(), path.c_str()) != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be given its name: check its folder.", unfinished));
  return sync_folder(path);
}

}  // namespace errand::sqlite
