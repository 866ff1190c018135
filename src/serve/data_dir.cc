#include "serve/data_dir.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"

namespace errand::serve {
namespace {

constexpr mode_t others = 077;
constexpr mode_t others_write = 022;
constexpr int depth_max = 32;
constexpr int names_max = 1'000'000;  // What others could put there has no bound of its own.

std::unexpected<Error> unreadable(const std::string& path) {
  return fail(Code::forbidden, fmt::format("{} cannot be looked at: {}.", path, std::strerror(errno)));
}

// What is in a folder that is ours, and below it where others could write: nobody can put anything into the rest.
class Mend {
 public:
  Status folder(int fd, const std::string& path, int depth) {
    if (depth > depth_max) return fail(Code::forbidden, fmt::format("{} is too deep; remove it.", path));
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(::dup(fd)), &::closedir);
    if (!names) return unreadable(path);
    while (const dirent* entry = ::readdir(names.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++seen_ > names_max) return fail(Code::forbidden, fmt::format("{} has too many files.", path));
      if (Status good = one(fd, entry->d_name, path + "/" + entry->d_name, depth); !good) return good;
    }
    return {};
  }
  int mended() const { return mended_; }

 private:
  Status one(int folder_fd, const char* name, const std::string& path, int depth) {
    struct stat info{};
    if (::fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // Gone meanwhile: a supervisor may be at work here.
      return unreadable(path);
    }
    if (info.st_uid != ::geteuid() && info.st_uid != 0)  // Root could do anything anyway.
      return fail(Code::forbidden,
                  fmt::format("{} belongs to another user, who could put it there; look at it and remove it.", path));
    if (S_ISLNK(info.st_mode) || (info.st_mode & others_write) == 0) return {};
    const Fd fd(::openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // A socket cannot be opened, and its mode is that of its own server.
    if (!fd) return S_ISSOCK(info.st_mode) ? Status() : unreadable(path);
    if (::fchmod(fd.get(), info.st_mode & 07777 & ~others) != 0)
      return fail(Code::forbidden, fmt::format("Others may write to {}; chmod it to 600.", path));
    ++mended_;
    if (!S_ISDIR(info.st_mode)) return {};
    Status good = folder(fd.get(), path, depth + 1);
    if (!good) ::fchmod(fd.get(), info.st_mode & 07777);  // The next start is to look again; nobody gets in until then.
    return good;
  }

  int seen_ = 0;
  int mended_ = 0;
};

}  // namespace

Status make_data_dir(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(Code::unavailable, fmt::format("The data folder {} cannot be made: {}.", path, error.message()));
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!fd && errno == EACCES) return fail(Code::forbidden, fmt::format("The data folder {} cannot be read.", path));
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return fail(Code::unavailable, fmt::format("The data folder {} is not a folder.", path));
  if (info.st_uid != ::geteuid())
    return fail(Code::forbidden, fmt::format("The data folder {} belongs to another user.", path));
  // First nobody can add anything, then what is there is looked at.
  if ((info.st_mode & others) != 0 && ::fchmod(fd.get(), 0700) != 0)
    return fail(Code::forbidden, fmt::format("Others may read the data folder {}; chmod it to 700.", path));
  Mend mend;
  if (Status good = mend.folder(fd.get(), path, 0); !good) return good;
  if ((info.st_mode & others_write) != 0)
    log_warning("server",
                fmt::format("others could write to {}: its mode is 700 now, and {} of the files in it that they "
                            "could write to are the user's alone; look at errand.toml",
                            path, mend.mended()));
  return {};
}

}  // namespace errand::serve
