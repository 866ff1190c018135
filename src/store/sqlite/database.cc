#include "store/sqlite/database.h"

#include <sqlite3.h>

#include <fmt/format.h>

namespace errand::sqlite {

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int at, int64_t number) {
  if (statement_) sqlite3_bind_int64(statement_, at, number);
  return *this;
}

Statement& Statement::bind(int at, std::string_view text) {
  // A null pointer would bind NULL.
  if (statement_)
    sqlite3_bind_text64(statement_, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null(int at) {
  if (statement_) sqlite3_bind_null(statement_, at);
  return *this;
}

int Statement::step() {
  if (statement_) return sqlite3_step(statement_);
  return failure_ != 0 ? failure_ : SQLITE_MISUSE;
}

int Statement::run() {
  int code = step();
  if (code == SQLITE_DONE || code == SQLITE_ROW) code = SQLITE_OK;
  if (statement_) sqlite3_reset(statement_);
  return code;
}

void Statement::reset() {
  if (statement_) sqlite3_reset(statement_);
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!text) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Database::Database(Database&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)),
      path_(std::move(other.path_)),
      derived_(other.derived_),
      failed_(std::move(other.failed_)),
      statements_(std::move(other.statements_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  std::swap(path_, other.path_);
  std::swap(derived_, other.derived_);
  std::swap(failed_, other.failed_);
  std::swap(statements_, other.statements_);
  return *this;
}

Database::~Database() {
  statements_.clear();
  sqlite3_close_v2(db_);
}

Result<Database> Database::open(const std::string& path, Mode mode, const std::string& vfs) {
  // Counting what SQLite has in use takes a lock at every allocation, and nobody asks.
  [[maybe_unused]] static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  // One thread at a time uses a connection (the writer, or who borrowed it), so it needs no mutex of its own.
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  // A reader opens for writing too: a WAL's shared memory is written by readers. `query_only` holds it back.
  flags |= SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  Database db;
  db.path_ = path;
  const int code = sqlite3_open_v2(path.c_str(), &db.db_, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) return std::unexpected(db.error(code, "open it"));
  sqlite3_extended_result_codes(db.db_, 1);
  return db;
}

int Database::exec_code(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); }

Status Database::exec(const std::string& sql) {
  const int code = exec_code(sql.c_str());
  if (code != SQLITE_OK) return std::unexpected(error(code, "run a statement"));
  return {};
}

Result<int64_t> Database::number(const std::string& sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const int code = statement->step();
  if (code == SQLITE_ROW) return statement->integer(0);
  if (code == SQLITE_DONE) return 0;
  return std::unexpected(error(code, "read it"));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, "prepare a statement"));
  return Statement(statement);
}

Statement& Database::cached(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second;
  Result<Statement> statement = prepare(sql);
  if (!statement) return failed_ = Statement::failed(sqlite3_extended_errcode(db_));
  return statements_.emplace(sql, std::move(*statement)).first->second;
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

int64_t Database::changes() const { return sqlite3_changes64(db_); }

Code code_of(int sqlite_code) {
  switch (sqlite_code & 0xFF) {
    case SQLITE_FULL:
      return Code::storage_full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Code::unavailable;
    default:
      return Code::internal;
  }
}

Error Database::error(int code, std::string_view doing) const {
  const char* what = db_ && sqlite3_extended_errcode(db_) == code ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {Code::storage_full, "The disk is full: free some space and try again.", {}};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {Code::unavailable,
              fmt::format("The database {} is locked by another program: end that program and try again.", path_),
              "locked"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      if (derived_)
        return {Code::unavailable,
                fmt::format("The search index {} is damaged ({}): restart the server to rebuild it.", path_, what),
                "index_corrupt"};
      return {Code::internal,
              fmt::format("The database {} is damaged ({}): stop the server and restore it from a copy.", path_, what),
              "corrupt"};
    case SQLITE_CANTOPEN:
      return {Code::internal,
              fmt::format("The database {} cannot be opened ({}): check that its folder exists and may be written.",
                          path_, what),
              "cannot_open"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Code::internal,
              fmt::format("The database {} cannot be written ({}): check the rights of the file and its folder.", path_,
                          what),
              "read_only"};
    case SQLITE_IOERR:
      return {Code::internal, fmt::format("The disk failed while the server tried to {} ({}, {}).", doing, path_, what),
              "io"};
    default:
      return {Code::internal, fmt::format("The database {} failed to {}: {}.", path_, doing, what), "sqlite"};
  }
}

}  // namespace errand::sqlite
