// One owner: a lock file beside the database, held as long as the store is open. SQLite 3.40's WAL-reset bug needs two
// connections that write or checkpoint; a second server on the same file would be the second one.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace errand::sqlite {

class Owner {
 public:
  // conflict, with the holder's pid, where somebody has it; within 1 s.
  static Result<Owner> take(const std::string& lock_path);

  Owner(Owner&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Owner();

 private:
  explicit Owner(int file) : file_(file) {}
  int file_ = -1;
};

// Makes the file empty and private where it is not there; an old one becomes private. Refused: a folder that is missing
// or cannot be written, a file on a network (its locks cannot be trusted).
Status prepare_file(const std::string& path);

}  // namespace errand::sqlite
