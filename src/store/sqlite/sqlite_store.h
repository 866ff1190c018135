// The store in one SQLite file: the default, nothing to install.
//
// Beside PATH lie PATH-wal and PATH-shm (SQLite's own), PATH.lock (the one owner), PATH.search (the search index, made
// again where it is missing) and PATH.ballast (space that is given up when the disk is full). All are their user's
// alone. While a server has it open nobody else may open the file, not even to look: see docs/operating.md.
//
// What is checked when it is opened: the owner, the schema's version, the WAL (SQLite replays what was committed and
// drops a torn end), the row of what is kept, and of a small file (4 MiB) every page and index. A large one is not read
// through: a million tasks must be served within a second. Instead each row is sealed (sqlite/seal.h) and checked when
// it is read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "store/store.h"

namespace errand {

struct SqliteOptions {
  std::string path;
  int readers = 2;                     // Connections for reading.
  int64_t ballast_bytes = 16LL << 20;  // 0: none.
  int busy_ms = 5'000;                 // How long a stranger's lock on the file is waited for.
  // For tests.
  std::string vfs;                         // An SQLite VFS by name; empty: the system's files.
  std::function<bool(bool take)> ballast;  // Takes or gives up the space, instead of a file.
  // Called instead of ending the process when a write or a sync failed. Nothing is answered behind it.
  std::function<void(const std::string& message)> fatal;
};

// Errors: conflict (somebody has it open; with the pid), unsupported (a newer schema, a network file system),
// unavailable (a folder that cannot be written, a lock), internal with reason "corrupt" (a damaged file).
Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options, Executor& answers);

}  // namespace errand
