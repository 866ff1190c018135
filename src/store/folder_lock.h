// One server a data folder: a lock file in it, held as long as the store is open. SQLite 3.40's WAL-reset bug needs two
// connections that write or checkpoint; a second server on the same file would be the second one. With PostgreSQL it
// tells that a server's predecessor in the folder is gone.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace errand {

class FolderLock {
 public:
  // conflict, with the holder's pid, where somebody has it; within 1 s.
  static Result<FolderLock> take(const std::string& lock_path);

  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_ = -1;
};

// Makes the file empty and private where it is not there; an old one becomes private. Refused: a folder that is missing
// or cannot be written, a file on a network (its locks cannot be trusted).
Status prepare_file(const std::string& path);

}  // namespace errand
