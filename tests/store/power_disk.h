// A disk in memory that can lose power, run full, or fail to sync: an SQLite VFS for tests (T2, T16).
//
// What was written and not synced is remembered write by write. When the power goes, each 512-byte piece of each such
// write is kept, lost or torn by chance, in spite of their order: the worst a disk may do that keeps what it was told
// to sync.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"

struct sqlite3_vfs;

namespace errand {

class PowerDisk {
 public:
  PowerDisk();
  ~PowerDisk();
  PowerDisk(const PowerDisk&) = delete;

  // For SqliteOptions::vfs.
  const std::string& vfs() const { return name_; }

  // The power goes at the n-th write, truncation, sync or deletion from now: everything fails from there on.
  void cut_power_after(int64_t operations);
  bool has_power();
  // Power is back: what is on the disk is left to chance. All handles must be closed.
  void restore_power(SeededRandom& random);

  // Syncs fail from now on (EIO); nothing else does.
  void fail_syncs(bool failing);
  // So many bytes of files fit. 0: no limit.
  void set_capacity(int64_t bytes);
  int64_t used();
  // Takes up space, or gives it up again (a ballast). False: it does not fit.
  bool reserve(int64_t bytes);
  // How many handles have written to the file since it was opened first.
  size_t writers(const std::string& path);

  // The bytes of a file, to damage them.
  std::string read(const std::string& path);
  void replace(const std::string& path, std::string bytes);

  int64_t operations();

  // For the VFS's own functions.
  struct Unsynced {
    int64_t offset = 0;
    std::string bytes;
    int64_t truncate_to = -1;  // Not a write, then.
  };
  struct File {
    std::string now;     // What a reader sees.
    std::string synced;  // What survives.
    std::vector<Unsynced> unsynced;
    std::set<const void*> writers;
    // Locks of the file and of its shared memory, by handle.
    std::map<const void*, int> locks;
    std::vector<std::unique_ptr<char[]>> shared;
    std::map<const void*, uint32_t> shared_locks, exclusive_locks;
  };
  std::mutex& mutex() { return mutex_; }
  // Each under the mutex.
  std::shared_ptr<File> open(const std::string& path, bool create);
  bool exists(const std::string& path) const { return files_.contains(path); }
  void forget(const std::string& path) { files_.erase(path); }
  // Counts an operation. False: there is no power.
  bool spend();
  bool powered() const { return left_ != 0; }
  bool syncs_fail() const { return syncs_fail_; }
  bool fits(const File& file, int64_t new_size) const;

 private:
  int64_t used_locked() const;

  std::mutex mutex_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::map<std::string, std::shared_ptr<File>> files_;
  int64_t left_ = -1;  // Operations until the power goes; -1: for ever.
  int64_t operations_ = 0;
  int64_t capacity_ = 0;
  int64_t reserved_ = 0;
  bool syncs_fail_ = false;
};

}  // namespace errand
