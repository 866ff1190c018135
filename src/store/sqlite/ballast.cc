#include "store/sqlite/ballast.h"

#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

namespace errand::sqlite {

Ballast::Hold Ballast::file(std::string path, int64_t bytes) {
  return [path = std::move(path), bytes](bool take) {
    if (bytes == 0) return take;
    if (!take) return ::unlink(path.c_str()) == 0;
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return false;
    struct stat status{};
    // Blocks, not size: a sparse file would hold nothing back.
    const bool whole = ::fstat(file, &status) == 0 && status.st_blocks * 512 >= bytes;
    const bool taken = whole || ::posix_fallocate(file, 0, bytes) == 0;
    ::close(file);
    if (!taken) ::unlink(path.c_str());
    return taken;
  };
}

}  // namespace errand::sqlite
