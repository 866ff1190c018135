#include "files/write.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/text.h"

namespace errand::files {
namespace {

std::unexpected<Error> not_written(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return fail(Code::storage_full, "The disk is full; nothing was written.");
    case EACCES:
    case EPERM:
    case EROFS:
      return fail(Code::forbidden, "The server may not write here.", "unwritable");
    case ENAMETOOLONG:
      return fail(Code::invalid_argument, "The name is longer than the file system takes.", "bad_path");
    default:
      return fail(Code::unavailable, std::string("The file could not be written: ") + std::strerror(error) + ".");
  }
}

std::string identity_of(const struct stat& info) {
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) + ":" +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

// The folder of `path`, made where it is not there. Each step is below the root, and none is a link.
Result<Fd> open_parent(const Root& root, std::string_view parent, uint32_t mode) {
  if (parent.empty()) {
    Fd fd(::openat(root.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return not_written(errno);
    return fd;
  }
  Result<Fd> there = root.open_folder(parent);
  if (there || there.error().code != Code::not_found) return there;
  const size_t slash = parent.rfind('/');
  const bool first = slash == std::string_view::npos;
  const Result<Fd> above = open_parent(root, first ? std::string_view() : parent.substr(0, slash), mode);
  if (!above) return std::unexpected(above.error());
  const std::string name(first ? parent : parent.substr(slash + 1));
  if (::mkdirat(above->get(), name.c_str(), mode) != 0) {
    if (errno == EEXIST) return fail(Code::forbidden, "A part of this path is a file, not a folder.", "not_a_folder");
    return not_written(errno);
  }
  // The server's own umask is narrower than what a task makes.
  ::fchmodat(above->get(), name.c_str(), mode, 0);
  return root.open_folder(parent);
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

// A file of another name in the same folder until it is whole; gone where it was not given its name.
class Draft {
 public:
  explicit Draft(int folder) : folder_(folder) {
    static std::atomic<uint64_t> count = 0;
    for (int i = 0; i < 100 && !fd_; ++i) {
      name_ = ".errand-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".tmp";
      fd_.reset(::openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (!fd_ && errno != EEXIST) return;
    }
  }
  ~Draft() {
    if (fd_ && !named_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  int rename_to(const std::string& name) {
    if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) return errno;
    named_ = true;
    return 0;
  }

 private:
  int folder_;
  std::string name_;
  Fd fd_;
  bool named_ = false;
};

std::unexpected<Error> changed() {
  return fail(Code::conflict, "The file has changed meanwhile; nothing was written.", "changed");
}

// What is there now may be replaced: a regular file that we may write, and the one that is expected.
Status check_target(int folder, const std::string& name, const WriteHow& how, struct stat& info, bool& there) {
  there = ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!there) {
    if (errno != ENOENT) return not_written(errno);
    if (how.expected) return changed();
    return {};
  }
  if (S_ISLNK(info.st_mode))
    return fail(Code::forbidden, "There is a symbolic link in this path, and links are not followed.", "symlink");
  if (!S_ISREG(info.st_mode))
    return fail(Code::forbidden, "This is not a regular file, and only regular files are written.", "not_a_file");
  if (::faccessat(folder, name.c_str(), W_OK, AT_EACCESS) != 0)
    return fail(Code::forbidden, "The file is read-only.", "unwritable");
  if (how.expected && identity_of(info) != *how.expected) return changed();
  return {};
}

}  // namespace

Result<Written> write_file(const Root& root, std::string_view path, std::string_view bytes, const WriteHow& how) {
  const Result<std::string> clean = clean_path(path);
  if (!clean) return std::unexpected(clean.error());
  const size_t slash = clean->rfind('/');
  const std::string name = slash == std::string::npos ? *clean : clean->substr(slash + 1);
  const Result<Fd> folder =
      open_parent(root, slash == std::string::npos ? std::string_view() : std::string_view(*clean).substr(0, slash),
                  how.folder_mode);
  if (!folder) return std::unexpected(folder.error());

  struct stat info{};
  bool there = false;
  if (Status good = check_target(folder->get(), name, how, info, there); !good) return std::unexpected(good.error());
  Draft draft(folder->get());
  if (!draft) return not_written(errno);
  if (const int error = write_all(draft.fd(), bytes)) return not_written(error);
  // The owner first: changing it takes rights away.
  if (there && ::geteuid() == 0 && ::fchown(draft.fd(), info.st_uid, info.st_gid) != 0) return not_written(errno);
  if (::fchmod(draft.fd(), there ? info.st_mode & 07777 : how.new_mode) != 0) return not_written(errno);
  if (::fdatasync(draft.fd()) != 0) return not_written(errno);
  // Looked at once more: the disk may have taken a while.
  if (Status good = check_target(folder->get(), name, how, info, there); !good) return std::unexpected(good.error());
  if (const int error = draft.rename_to(name)) return not_written(error);
  ::fsync(folder->get());
  struct stat now{};
  if (::fstat(draft.fd(), &now) != 0) return not_written(errno);
  return Written{.created = !there, .identity = identity_of(now)};
}

std::string identity(const File& file) {
  struct stat info{};
  return ::fstat(file.fd.get(), &info) == 0 ? identity_of(info) : std::string();
}

}  // namespace errand::files
