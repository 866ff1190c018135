#include "files/beneath.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/text.h"

namespace errand::files {
namespace {

constexpr uint64_t always = O_CLOEXEC | O_NOFOLLOW;  // openat2 takes no more beside O_PATH.
// A name that is being renamed makes the kernel unsure whether a path stays below; it asks to be asked again.
constexpr int renames_max = 16;

int open_beneath(int folder, const char* path, uint64_t flags) {
  open_how how{};
  how.flags = flags | always;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  for (int i = 0; i < renames_max; ++i) {
    fd = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return static_cast<int>(fd);
}

// clean_path has left no "..": going down a name at a time, without following links, cannot lead out.
int open_by_component(int folder, std::string_view path, uint64_t flags) {
  Fd here;
  int at = folder;
  for (;;) {
    const size_t slash = path.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string name(path.substr(0, slash));
    const uint64_t how = last ? flags | always : always | O_PATH | O_DIRECTORY;
    const int fd = ::openat(at, name.c_str(), static_cast<int>(how));
    if (fd < 0 || last) return fd;
    here.reset(fd);
    at = here.get();
    path.remove_prefix(slash + 1);
  }
}

std::unexpected<Error> refused(int error) {
  switch (error) {
    case ELOOP:
    case EXDEV:
      return fail(Code::forbidden, "There is a symbolic link in this path, and links are not followed.", "symlink");
    case EACCES:
    case EPERM:
      return fail(Code::forbidden, "The server may not read this file.", "unreadable");
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return fail(Code::not_found, "There is no file of this name.", "no_file");
    default:
      return fail(Code::unavailable, std::string("The file cannot be opened: ") + std::strerror(error) + ".");
  }
}

std::unexpected<Error> no_file_kind(mode_t mode) {
  if (S_ISLNK(mode)) return refused(ELOOP);
  const char* const what = S_ISDIR(mode)    ? "a folder"
                           : S_ISFIFO(mode) ? "a fifo"
                           : S_ISSOCK(mode) ? "a socket"
                                            : "a device";
  return fail(Code::forbidden, std::string("This is ") + what + ", and only files are read.", "not_a_file");
}

}  // namespace

Result<std::string> clean_path(std::string_view path) {
  const auto bad = [](const char* why) { return fail(Code::invalid_argument, why, "bad_path"); };
  if (path.size() > path_max) return bad("The path is longer than 4096 bytes.");
  if (path.contains('\0')) return bad("The path has a NUL byte in it.");
  if (path.starts_with('/')) return bad("The path is absolute; name a file of the task, relative to its folder.");
  std::string clean;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return bad("The path has \"..\" in it; only files below the task's own folder are read.");
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  if (clean.empty()) return bad("The path is empty; name a file of the task.");
  return clean;
}

Result<Root> Root::open(const std::string& folder, How how) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(Code::not_found, "There is no such folder.", "no_file");
  return Root(std::move(fd), how);
}

Result<Fd> Root::resolve(const std::string& path, uint64_t flags) const {
  if (how_ == How::kernel) {
    Fd fd(open_beneath(folder_.get(), path.c_str(), flags));
    if (fd) return fd;
    // ENOSYS: an old kernel. EPERM: what seccomp filters answer that do not know the call; a file answers EACCES.
    if (errno != ENOSYS && errno != EPERM) return refused(errno);
  }
  Fd fd(open_by_component(folder_.get(), path, flags));
  if (!fd) return refused(errno);
  return fd;
}

Result<File> Root::open_file(std::string_view path) const {
  const Result<std::string> clean = clean_path(path);
  if (!clean) return std::unexpected(clean.error());
  // Looked at before it is opened: opening a device may do something.
  struct stat info{};
  const Result<Fd> seen = resolve(*clean, O_PATH);
  if (!seen) return std::unexpected(seen.error());
  if (::fstat(seen->get(), &info) != 0) return refused(errno);
  if (!S_ISREG(info.st_mode)) return no_file_kind(info.st_mode);
  // It may be another by now: a fifo does not block, and whatever it is, it is looked at again.
  Result<Fd> fd = resolve(*clean, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return std::unexpected(fd.error());
  if (::fstat(fd->get(), &info) != 0) return refused(errno);
  if (!S_ISREG(info.st_mode)) return no_file_kind(info.st_mode);
  File file;
  file.fd = *std::move(fd);
  file.size = info.st_size;
  file.disk_bytes = info.st_blocks * 512;
  file.modified = {info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000};
  file.mode = info.st_mode;
  return file;
}

Result<Fd> Root::open_folder(std::string_view path) const {
  const Result<std::string> clean = clean_path(path);
  if (!clean) return std::unexpected(clean.error());
  return resolve(*clean, O_RDONLY | O_DIRECTORY);
}

int64_t read_at(const File& file, int64_t offset, char* bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(file.fd.get(), bytes + done, size - done, offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return static_cast<int64_t>(done);
}

}  // namespace errand::files
