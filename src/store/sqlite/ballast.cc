#include "store/sqlite/ballast.h"

#include <fcntl.h>
#include <limits>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace errand::sqlite {
namespace {
constexpr int64_t spare_bytes = 1 << 20;
}  // namespace

int64_t free_bytes(const std::string& path) {
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
}

Ballast::Hold Ballast::file(std::string path, int64_t bytes) {
  return [path = std::move(path), bytes](bool take) {
    if (bytes == 0) return take;
    if (!take) return ::unlink(path.c_str()) == 0;
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return false;
    struct stat status{};
    // Blocks, not size: a sparse file would hold nothing back.
    const bool whole = ::fstat(file, &status) == 0 && status.st_blocks * 512 >= bytes;
    // With something left beside it: what is taken back to the last byte is given up again with the next commit.
    struct statvfs disk{};
    const bool enough = ::fstatvfs(file, &disk) != 0 || static_cast<int64_t>(disk.f_bavail * disk.f_frsize) >=
                                                            bytes - status.st_blocks * 512 + spare_bytes;
    const bool taken = whole || (enough && ::posix_fallocate(file, 0, bytes) == 0);
    ::close(file);
    if (!taken) ::unlink(path.c_str());
    return taken;
  };
}

}  // namespace errand::sqlite
