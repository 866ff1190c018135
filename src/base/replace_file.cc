#include "base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/fd.h"

namespace errand {
namespace {

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

int replace_file(int folder, const std::string& name, std::string_view bytes, mode_t mode, Durability durability) {
  const std::string fresh = name + ".new";
  ::unlinkat(folder, fresh.c_str(), 0);  // Of a process that was killed here.
  const Fd file(::openat(folder, fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file) return errno;
  int error = write_all(file.get(), bytes);
  if (error == 0 && durability == Durability::power && ::fdatasync(file.get()) != 0) error = errno;
  if (error == 0 && ::renameat(folder, fresh.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlinkat(folder, fresh.c_str(), 0);
    return error;
  }
  if (durability == Durability::power && ::fsync(folder) != 0) return errno;
  return 0;
}

int replace_file(const std::string& path, std::string_view bytes, mode_t mode, Durability durability) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const Fd folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno;
  return replace_file(folder.get(), slash == std::string::npos ? path : path.substr(slash + 1), bytes, mode,
                      durability);
}

}  // namespace errand
