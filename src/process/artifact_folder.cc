#include "process/artifact_folder.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "process/fd.h"
#include "process/run.h"

namespace errand::process {
namespace {

constexpr mode_t own_mode = 0700;

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// It was there: of an earlier run of the same task, which may have changed its rights or put something in its place.
int use_again(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return errno;
  if (!S_ISDIR(info.st_mode)) return ENOTDIR;
  return (info.st_mode & 07777) == own_mode || ::chmod(path.c_str(), own_mode) == 0 ? 0 : errno;
}

}  // namespace

ArtifactFolder::~ArtifactFolder() {
  if (!spare_.empty()) ::rmdir(spare_.c_str());
}

int ArtifactFolder::make(const std::string& path) {
  // One that is there already is not replaced, though it may be empty: it is looked at below.
  if (!spare_.empty() && ::renameat2(AT_FDCWD, spare_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
    spare_.clear();
    return 0;
  }
  if (::mkdir(path.c_str(), own_mode) == 0) return 0;
  if (errno == ENOENT && (::mkdir(parent_of(path).c_str(), own_mode) == 0 || errno == EEXIST) &&
      ::mkdir(path.c_str(), own_mode) == 0)
    return 0;
  return errno == EEXIST ? use_again(path) : errno;
}

bool ArtifactFolder::take_back(const std::string& path) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return errno == ENOENT;
  struct stat info{};
  if (!is_empty_folder(folder.get()) || ::fstat(folder.get(), &info) != 0) return false;
  if (spare_.empty() && (info.st_mode & 07777) == own_mode) {
    const std::string spare = parent_of(path) + "/" + spare_prefix + std::to_string(::getpid());
    if (::rename(path.c_str(), spare.c_str()) == 0) {
      spare_ = spare;
      return true;
    }
  }
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace errand::process
