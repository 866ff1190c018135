#include "process/tree.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string_view>
#include <unistd.h>

#include <sys/syscall.h>

#include "process/fd.h"

namespace errand::process {
namespace {

Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }
int signal_pidfd(const Fd& fd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0));
}

bool read_file(const char* path, std::string& out, size_t bound) {
  Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  out.clear();
  char buffer[4096];
  while (out.size() < bound) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0) return false;
    if (n == 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return true;
}

pid_t to_pid(std::string_view text) {
  pid_t pid = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc() && end == text.data() + text.size() ? pid : 0;
}

template <class Visit>
void for_each_number(const char* folder, Visit visit) {
  DIR* dir = ::opendir(folder);
  if (!dir) return;
  while (dirent* entry = ::readdir(dir))
    if (pid_t number = to_pid(entry->d_name); number > 0) visit(number);
  ::closedir(dir);
}

// A kernel without CONFIG_PROC_CHILDREN: ask every process for its parent.
std::vector<pid_t> children_by_parent(pid_t parent) {
  std::vector<pid_t> children;
  for_each_number("/proc", [&](pid_t pid) {
    ProcessStat stat;
    if (read_stat(pid, stat) && stat.parent == parent) children.push_back(pid);
  });
  return children;
}

bool kernel_lists_children() {
  static const bool has = ::access("/proc/thread-self/children", R_OK) == 0;
  return has;
}

struct Member {
  pid_t pid = 0;
  Fd fd;
  int depth = 0;  // 0: an own child.
};

// Adds the children of `parent` to `members`. `parent_fd` proves, after a child's pidfd was opened and its parent read,
// that the parent's pid still is the parent's: so the child was really its child while the pidfd was open.
void add_children(pid_t parent, const Fd* parent_fd, int depth, std::vector<Member>& members) {
  for (pid_t pid : children_of(parent)) {
    Fd fd = open_pidfd(pid);
    ProcessStat stat;
    if (!fd || !read_stat(pid, stat) || stat.parent != parent) continue;
    if (parent_fd && signal_pidfd(*parent_fd, 0) != 0) return;  // Gone: its children are the keeper's by now.
    bool known = std::ranges::any_of(members, [pid](const Member& member) { return member.pid == pid; });
    if (!known) members.push_back({pid, std::move(fd), depth});
  }
}

std::vector<Member> descendants(size_t most) {
  std::vector<Member> members;
  add_children(::getpid(), nullptr, 0, members);
  for (size_t i = 0; i < members.size() && members.size() < most; ++i) {
    Fd parent = std::move(members[i].fd);  // The vector may move while it grows.
    add_children(members[i].pid, &parent, members[i].depth + 1, members);
    members[i].fd = std::move(parent);
  }
  return members;
}

// More than this at once would need as many descriptors; the rest is met by SIGKILL.
constexpr size_t members_max = 512;
constexpr int states_max = 64;
constexpr size_t stopped_max = 4'096;
constexpr int stop_rounds = 20;
// A tree may grow faster than it is walked, and the walk would never end.
constexpr size_t walk_max = 4'096;

}  // namespace

bool read_stat(pid_t pid, ProcessStat& stat) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::string text;
  if (!read_file(path, text, 4096)) return false;
  // The name is in parentheses and may hold anything, parentheses too.
  size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  long long utime = 0, stime = 0, cutime = 0, cstime = 0, start = 0, pages = 0;
  int parent = 0;
  int n = std::sscanf(text.c_str() + close + 1,
                      " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld %*d %*d %*d %*d %lld %*u %lld",
                      &stat.state, &parent, &utime, &stime, &cutime, &cstime, &start, &pages);
  if (n != 8) return false;
  static const int64_t page_size = ::sysconf(_SC_PAGESIZE);
  stat.parent = parent;
  stat.cpu_ticks = utime + stime;
  stat.reaped_cpu_ticks = cutime + cstime;
  stat.start_ticks = start;
  stat.resident_bytes = pages * page_size;
  return true;
}

int64_t resident_bytes(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/statm", pid);
  std::string text;
  long long pages = 0;
  static const int64_t page_size = ::sysconf(_SC_PAGESIZE);
  return read_file(path, text, 4096) && std::sscanf(text.c_str(), "%*s %lld", &pages) == 1 ? pages * page_size : 0;
}

int64_t read_io(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/io", pid);
  std::string text;
  long long in = 0, out = 0;
  if (!read_file(path, text, 4096) || std::sscanf(text.c_str(), "rchar: %lld wchar: %lld", &in, &out) != 2) return 0;
  return in + out;
}

std::vector<pid_t> children_of(pid_t pid) {
  if (!kernel_lists_children()) return children_by_parent(pid);
  std::vector<pid_t> children;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  for_each_number(path, [&](pid_t thread) {
    char file[64];
    std::snprintf(file, sizeof file, "/proc/%d/task/%d/children", pid, thread);
    std::string text;
    if (!read_file(file, text, 1u << 20)) return;
    std::string_view rest = text;
    while (!rest.empty()) {
      size_t space = std::min(rest.find(' '), rest.size());
      if (pid_t child = to_pid(rest.substr(0, space)); child > 0) children.push_back(child);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  });
  return children;
}

void terminate_descendants(int spare) {
  const std::vector<Member> members = descendants(members_max);
  // Collected first and then told parents first: a shell whose child dies before it is told itself would start the
  // next.
  for (const Member& member : members)
    if (member.depth >= spare) signal_pidfd(member.fd, SIGTERM);
  // Without pidfds (ENOSYS, or out of descriptors) the own children are still safe to signal by number.
  if (members.empty() && spare == 0)
    for (pid_t pid : children_of(::getpid())) ::kill(pid, SIGTERM);
}

void stop_descendants() {
  size_t before = 0;
  for (int round = 0; round < stop_rounds; ++round) {
    const std::vector<Member> members = descendants(stopped_max);
    for (const Member& member : members) signal_pidfd(member.fd, SIGSTOP);
    if (members.size() <= before) return;
    before = members.size();
  }
}

int kill_children(const std::vector<pid_t>& spare) {
  int count = 0;
  for (pid_t pid : children_of(::getpid())) {
    if (std::ranges::find(spare, pid) != spare.end()) continue;
    ::kill(pid, SIGKILL);
    ++count;
  }
  return count;
}

RunUsage usage_below(pid_t root) {
  RunUsage usage;
  int64_t ticks = 0;
  ProcessStat stat;
  if (read_stat(root, stat)) ticks += stat.reaped_cpu_ticks;
  std::vector<pid_t> pids = children_of(root);
  for (size_t i = 0; i < pids.size() && i < walk_max; ++i) {
    if (!read_stat(pids[i], stat)) continue;
    ticks += stat.cpu_ticks + stat.reaped_cpu_ticks;
    if (stat.state != 'Z') {
      usage.memory_bytes += stat.resident_bytes;
      usage.io_bytes += read_io(pids[i]);
      if (++usage.processes <= states_max) usage.states += stat.state;
    }
    for (pid_t child : children_of(pids[i]))
      if (std::ranges::find(pids, child) == pids.end()) pids.push_back(child);
  }
  static const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  usage.cpu_s = static_cast<double>(ticks) / ticks_per_second;
  std::ranges::sort(usage.states);
  return usage;
}

int kill_marked(const std::string& marker) {
  auto marked = [&marker](pid_t pid) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/environ", pid);
    std::string text(1, '\0');
    std::string environ_text;
    if (!read_file(path, environ_text, 4u << 20)) return false;
    text += environ_text;
    return text.find('\0' + marker + '\0') != std::string::npos;
  };
  int found = 0;
  for_each_number("/proc", [&](pid_t pid) {
    if (pid == ::getpid() || !marked(pid)) return;
    Fd fd = open_pidfd(pid);
    // Read again behind the pidfd: the pid may have gone to another process in between.
    if (!fd || !marked(pid) || signal_pidfd(fd, SIGKILL) != 0) return;
    ++found;
  });
  return found;
}

}  // namespace errand::process
