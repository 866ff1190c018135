#include "store/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace errand {
namespace {

constexpr long smb1_magic = 0x517B, cifs_magic = 0xFF534D42, smb2_magic = 0xFE534D42;

std::string read_pid(int file) {
  char text[32] = {};
  const ssize_t size = ::pread(file, text, sizeof(text) - 1, 0);
  std::string pid(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!pid.empty() && (pid.back() < '0' || pid.back() > '9')) pid.pop_back();
  return pid;
}

Error cannot(const std::string& path, const char* what) {
  return {Code::unavailable,
          fmt::format("{} cannot be {} ({}): check that its folder exists and that you may write there.", path, what,
                      std::strerror(errno)),
          "cannot_open"};
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::string& lock_path) {
  const int file = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return std::unexpected(cannot(lock_path, "opened"));
  FolderLock lock(file);
  // The holder writes its pid right after it locked: wait a moment for that, no longer.
  for (int attempt = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK) return std::unexpected(cannot(lock_path, "locked"));
    const std::string pid = read_pid(file);
    if (pid.empty() && attempt < 50) {
      const timespec pause{0, 10'000'000};
      ::nanosleep(&pause, nullptr);
      continue;
    }
    return fail(
        Code::conflict,
        fmt::format("Another errand server (process {}) uses this data folder: stop it, or choose another folder.",
                    pid.empty() ? "unknown" : pid),
        "owned");
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // The lock is what counts; the pid is for a message. A full disk must not keep the server from starting.
  }
  return lock;
}

FolderLock::~FolderLock() {
  if (file_ < 0) return;
  if (::ftruncate(file_, 0) != 0) {
    // Only the message of the next one would name us.
  }
  ::close(file_);
}

Status prepare_file(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  struct statfs system{};
  if (::statfs(folder.c_str(), &system) != 0) return std::unexpected(cannot(folder, "read"));
  const auto type = static_cast<unsigned long>(system.f_type) & 0xFFFFFFFF;
  if (type == NFS_SUPER_MAGIC || type == smb1_magic || type == cifs_magic || type == smb2_magic || type == V9FS_MAGIC)
    return fail(
        Code::unsupported,
        fmt::format("{} is on a network file system, whose locks cannot be trusted with a database: choose a data "
                    "folder on a local disk.",
                    folder),
        "network_file_system");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return std::unexpected(cannot(path, "opened for writing"));
  const bool is_private = ::fchmod(file, 0600) == 0;
  ::close(file);
  if (!is_private) return std::unexpected(cannot(path, "made private"));
  return {};
}

}  // namespace errand
