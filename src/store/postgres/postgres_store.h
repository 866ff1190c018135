// The store in a PostgreSQL database, for those who have one: its backups, standbys and monitoring are theirs already.
//
// One server at a time uses a database (seat.h). Everything is in one schema of it, `errand`. What is durable is what
// PostgreSQL says is: `fsync` and, for a fail-over without loss, synchronous standbys are the database's own settings.
// docs/operating.md says how it is set up, docs/decisions/0042-postgres.md why it is built like this.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "store/store.h"

namespace errand {

struct PostgresOptions {
  std::string url;       // postgres://... or postgresql://..., in libpq's form.
  std::string data_dir;  // The server's own: nobody else uses it while the store is open.
  int readers = 3;       // Connections for reading. There is one more that writes and one that keeps house.
  // For tests.
  std::string place = {};  // Instead of a data folder, which is not locked then.
  std::string schema = "errand";
  std::function<void(const std::string& message)> fatal = nullptr;  // Called instead of ending the process.
};

// True for a URL that this store is for.
bool is_postgres_url(std::string_view url);

// The name of a data folder: made once, kept in a file of its own, never used for another one.
Result<std::string> read_place(const std::string& file);

// Errors: conflict (another server has the database, or the data folder: says which), unsupported (libpq is missing,
// PostgreSQL is too old, a newer schema), unavailable (it cannot be reached now).
Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options, Executor& answers);

}  // namespace errand
