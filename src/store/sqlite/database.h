// SQLite's C API with owners: a connection, its statements, and how its errors read. sqlite3.h stays in .cc files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace errand::sqlite {

// A prepared statement. Texts that are bound must live until the next reset.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  // One that could not be prepared: every step answers with the code.
  static Statement failed(int code) {
    Statement statement;
    statement.failure_ = code;
    return statement;
  }
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), failure_(other.failure_) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Statement();

  // Parameters are numbered from 1.
  Statement& bind(int at, int64_t number);
  Statement& bind(int at, std::string_view text);
  Statement& bind_null(int at);
  // NULL for "none".
  Statement& bind_text_or_null(int at, std::string_view text) { return text.empty() ? bind_null(at) : bind(at, text); }
  Statement& bind_time_or_null(int at, Time time) { return time ? bind(at, time.ms) : bind_null(at); }

  // SQLITE_ROW, SQLITE_DONE, or an error.
  int step();
  // One step that gives no row, then reset: SQLITE_OK, or an error.
  int run();
  void reset();

  // Columns are numbered from 0. A text lives until the next step or reset.
  int64_t integer(int column) const;
  std::string_view text(int column) const;
  bool is_null(int column) const;
  Time time(int column) const { return {integer(column)}; }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int failure_ = 0;
};

// Resets a statement when the scope ends: no statement stays open behind a call, so no transaction does.
class Use {
 public:
  explicit Use(Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  ~Use() { statement_.reset(); }
  Statement* operator->() { return &statement_; }
  Statement& operator*() { return statement_; }

 private:
  Statement& statement_;
};

class Database {
 public:
  enum class Mode : uint8_t { create, read_write, read };

  Database() = default;
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  static Result<Database> open(const std::string& path, Mode mode, const std::string& vfs);

  // Any number of statements without rows.
  Status exec(const std::string& sql);
  int exec_code(const char* sql);
  // The first column of the first row; 0 where there is none.
  Result<int64_t> number(const std::string& sql);

  Result<Statement> prepare(std::string_view sql);
  // Prepared once and kept. Where that fails (a damaged file, or a bug), every step answers with the error.
  Statement& cached(std::string_view sql);

  Error error(int code, std::string_view doing) const;
  // It can be made again from another: damage to it is no damage to what is stored (reason "index_corrupt").
  void set_derived() { derived_ = true; }
  bool in_transaction() const;
  int64_t changes() const;
  sqlite3* handle() { return db_; }
  const std::string& path() const { return path_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  sqlite3* db_ = nullptr;
  std::string path_;
  bool derived_ = false;
  Statement failed_;
  std::unordered_map<std::string, Statement, Hash, std::equal_to<>> statements_;
};

// A read transaction: everything inside sees one moment.
class Snapshot {
 public:
  explicit Snapshot(Database& db) : db_(db) { db_.exec_code("BEGIN"); }
  Snapshot(const Snapshot&) = delete;
  ~Snapshot() { db_.exec_code("COMMIT"); }

 private:
  Database& db_;
};

// What an SQLite result code means for a caller.
Code code_of(int sqlite_code);

}  // namespace errand::sqlite
