// A connection to PostgreSQL: statements are queued and go out together (libpq's pipeline mode), so that a transaction
// costs as many round trips as it has questions, not statements.
//
// libpq is opened at run time (docs/decisions/0042-postgres.md). One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/postgres/values.h"

struct pg_conn;

namespace errand::postgres {

// Reasons of errors, for those who decide what to do next.
namespace reason {
inline constexpr std::string_view away = "away";        // unavailable: the server is gone, or may not be written to.
inline constexpr std::string_view again = "again";      // unavailable: a lock, or somebody else was faster.
inline constexpr std::string_view rule = "rule";        // internal: a value broke a rule of the tables.
inline constexpr std::string_view corrupt = "corrupt";  // internal: the database says that it is damaged.
}  // namespace reason

struct ConnectOptions {
  std::string url;     // libpq's form, or "keyword=value ...".
  std::string schema;  // Where the tables are; made by the migration.
  bool read_only = false;
  Millis answer_ms = 30'000;  // A flight that takes longer is given up, and the connection with it.
};

class Connection {
 public:
  // Waits at most 5 s for each host that the URL names. unsupported: libpq is not installed; unavailable
  // (reason::away): it cannot be reached now; invalid_argument: the URL is wrong, or the login.
  static Result<Connection> open(const ConnectOptions& options);

  // One that is not up.
  static Connection none() { return Connection(nullptr, 0); }

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  // Queues a statement, which is prepared once a connection. Its place in this flight.
  size_t send(std::string_view sql, const Values& values = {});
  // Sends what is queued and waits for all answers, in order. The error is that of the first statement that failed: the
  // ones behind it did not run, and a transaction that is open must be rolled back.
  Result<std::vector<Rows>> flush();
  Result<Rows> run(std::string_view sql, const Values& values = {});
  // Statements that are queued.
  size_t queued() const { return statements_; }
  // Which statement of the last flight failed.
  size_t failed_at() const { return failed_at_; }

  // Several statements without parameters, as one text.
  Status script(const std::string& sql);

  // False: it is of no use any more; whatever was open on it is rolled back by the server, some day.
  bool is_up() const { return conn_ != nullptr; }
  void close();
  // For people; without the password.
  std::string describe() const;

 private:
  explicit Connection(pg_conn* conn, Millis answer_ms) : conn_(conn), answer_ms_(answer_ms) {}
  Status set_up(const ConnectOptions& options);
  // Sends what libpq holds and waits until something can be read. False: the time is up, or the connection is lost.
  bool wait_for_input(Time deadline);
  bool enter_pipeline();
  std::unexpected<Error> lost(std::string_view doing);

  pg_conn* conn_ = nullptr;
  Millis answer_ms_ = 30'000;
  std::unordered_map<std::string, std::string> prepared_;  // SQL to its name on the server.
  std::vector<std::string> fresh_;                         // Of them, those of this flight.
  int64_t next_name_ = 0;                                  // Never used again: a failed PREPARE may have been none.
  std::vector<bool> queued_;                               // Of this flight: true for a statement, false for a PREPARE.
  size_t statements_ = 0;
  size_t failed_at_ = 0;
  bool failed_to_send_ = false;
  bool pipeline_ = false;
};

}  // namespace errand::postgres
