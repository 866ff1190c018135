#include "store/sqlite/ballast.h"

#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

namespace errand::sqlite {

bool Ballast::take() {
  if (taken_ || bytes_ == 0) return taken_ = true;
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  struct stat status{};
  // Blocks, not size: a sparse file would hold nothing back.
  const bool whole = ::fstat(file, &status) == 0 && status.st_blocks * 512 >= bytes_;
  taken_ = whole || ::posix_fallocate(file, 0, bytes_) == 0;
  ::close(file);
  if (!taken_) ::unlink(path_.c_str());
  return taken_;
}

bool Ballast::give_up() {
  if (!taken_ || bytes_ == 0) return false;
  taken_ = false;
  return ::unlink(path_.c_str()) == 0;
}

}  // namespace errand::sqlite
