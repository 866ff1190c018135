#include "process/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string_view>
#include <unistd.h>

#include <linux/sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/hash.h"
#include "process/run.h"

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ERRAND_SANITIZED  // They keep books of each thread's stack.
#endif

namespace errand::process {
namespace {

constexpr int depth_max = 16;
constexpr const char* place_prefix = "errand.";
constexpr int place_attempts = 10;
// The controller counts threads, `processes` does not: it is the ceiling above what the keeper counts.
constexpr int64_t threads_a_process = 8;

std::string read_at(int folder, const char* file) {
  Fd fd(::openat(folder, file, O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  while (fd && text.size() < sizeof buffer * 16) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

bool write_at(int folder, const char* file, std::string_view text) {
  Fd fd(::openat(folder, file, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Fd open_folder(int at, const std::string& name) {
  return Fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (text.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

// "key 12\n": 12; -1 where there is no such line.
int64_t value_of(std::string_view text, std::string_view key) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return std::atoll(std::string(line.substr(key.size() + 1)).c_str());
    begin = end + 1;
  }
  return -1;
}

// The groups inside first: a process may have made some.
void remove_group(int parent, const std::string& name, int depth = 0) {
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT || depth > depth_max) return;
  if (Fd folder = open_folder(parent, name))
    for (const std::string& inner : names_in(folder.get())) {
      struct stat info{};
      if (::fstatat(folder.get(), inner.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
        remove_group(folder.get(), inner, depth + 1);
    }
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

void clear_group(int parent, const std::string& name) {
  if (Fd folder = open_folder(parent, name)) write_at(folder.get(), "cgroup.kill", "1");
  remove_group(parent, name);
}

void clear_groups(int folder) {
  for (const std::string& name : names_in(folder))
    if (is_run_name(name)) clear_group(folder, name);
}

// Where the supervisor's own group is in the file system; empty where there is none.
std::string own_group() {
  std::string own;
  std::string mount, root;
  if (std::FILE* file = std::fopen("/proc/self/cgroup", "re")) {
    char line[4400];
    while (std::fgets(line, sizeof line, file))
      if (std::strncmp(line, "0::", 3) == 0) own.assign(line + 3, std::strcspn(line + 3, "\n"));
    std::fclose(file);
  }
  if (std::FILE* file = std::fopen("/proc/self/mountinfo", "re")) {
    char line[8800], from[4200], to[4200];
    while (mount.empty() && std::fgets(line, sizeof line, file)) {
      const char* type = std::strstr(line, " - cgroup2 ");
      if (type && std::sscanf(line, "%*s %*s %*s %4199s %4199s", from, to) == 2) {
        root = from;
        mount = to;
      }
    }
    std::fclose(file);
  }
  if (own.empty() || mount.empty() || own.find("/..") != std::string::npos) return {};
  if (root == "/") return own == "/" ? mount : mount + own;
  if (!own.starts_with(root)) return {};
  return mount + own.substr(root.size());
}

// Places whose supervisor and keepers are all gone: they would have held the lock. Where nobody comes back to a data
// folder, nobody else would ever remove its group.
void sweep_places(int parent) {
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(place_prefix)) continue;
    Fd folder = open_folder(parent, name);
    if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    clear_groups(folder.get());
    ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  }
}

// systemd marks what it leaves to us.
bool is_delegated(const std::string& group) {
  char value[8] = {};
  return ::getxattr(group.c_str(), "user.delegate", value, sizeof value - 1) > 0 && value[0] == '1';
}

std::string name_of(const std::string& data_dir) {
  char name[40];
  std::snprintf(name, sizeof name, "%s%016llx", place_prefix, static_cast<unsigned long long>(fnv_hash(data_dir)));
  return name;
}

// Makes the place where it is not there, and holds it. The lock is shared with the keepers, which inherit it: held as
// long as one of us is there. Another's sweep may have it for a moment, and take the folder away before it is ours.
Fd lock_place(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return {};
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  struct stat opened{}, there{};
  const bool ours = folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(folder.get(), &opened) == 0 &&
                    ::stat(path.c_str(), &there) == 0 && opened.st_ino == there.st_ino;
  return ours ? std::move(folder) : Fd();
}

// Whether a process can really be put there: rights and kernels differ in more ways than can be read off.
bool takes_processes(int place) {
  const std::string name = "probe.0";
  ::mkdirat(place, name.c_str(), 0700);
  Fd group = open_folder(place, name);
  bool kills = group && ::faccessat(group.get(), "cgroup.kill", W_OK, 0) == 0;
  pid_t pid = kills ? fork_into(group.get()) : -1;
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  remove_group(place, name);
  return pid > 0;
}

}  // namespace

pid_t fork_into(int group) {
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(group);
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

#if defined(__x86_64__) && !defined(ERRAND_SANITIZED)
pid_t fork_into(int group, void (*run)(void*), void* argument) {
  alignas(16) static char stack[128 * 1024];
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP | CLONE_VM | CLONE_VFORK;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(group);
  args.stack = reinterpret_cast<uint64_t>(stack);
  args.stack_size = sizeof stack;
  long pid = 0;
  // There is no function of the library for this: the child comes back from the call on its new stack, where nothing is
  // to return to.
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %[argument], %%rdi\n\t"
      "call *%[run]\n\t"
      "ud2\n"
      "1:"
      : "=a"(pid)
      : "a"(SYS_clone3), "D"(&args), "S"(sizeof args), [run] "r"(run), [argument] "r"(argument)
      : "rcx", "r11", "memory");
  if (pid >= 0) return static_cast<pid_t>(pid);
  errno = static_cast<int>(-pid);
  return -1;
}
#else
pid_t fork_into(int group, void (*run)(void*), void* argument) {
  const pid_t pid = fork_into(group);
  if (pid == 0) run(argument);
  return pid;
}
#endif

CgroupPlace CgroupPlace::below_own(const std::string& data_dir) {
  std::string own = own_group();
  // A service manager that puts us into an inner group of the one that it delegated: only that one, without processes
  // of its own, can hand controllers down.
  const std::string above = own.substr(0, own.rfind('/'));
  if (!above.empty() && is_delegated(above))
    if (CgroupPlace place = below(above, data_dir); place.ok()) return place;
  if (!own.empty()) return below(own, data_dir);
  CgroupPlace none;
  none.why_not_ = "there is no cgroup v2 here";
  return none;
}

CgroupPlace CgroupPlace::below(const std::string& parent, const std::string& data_dir) {
  CgroupPlace place;
  place.path_ = parent + "/" + name_of(data_dir);
  Fd above(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above) sweep_places(above.get());
  Fd folder;
  for (int attempt = 0; attempt < place_attempts && !folder; ++attempt) {
    folder = lock_place(place.path_);
    if (!folder) ::poll(nullptr, 0, 1);
  }
  // Somebody lives there: a supervisor whose data folder was deleted and made again, which takes its groups with it
  // when it leaves. So this one has groups of its own.
  if (!folder) folder = lock_place(place.path_ += "." + std::to_string(::getpid()));
  if (!above || !folder) {
    place.why_not_ = "no group can be made in " + parent + " (" + std::strerror(errno) + ")";
    return place;
  }
  clear_groups(folder.get());
  if (!takes_processes(folder.get())) {
    place.why_not_ = "no process can be put into " + place.path_;
    ::rmdir(place.path_.c_str());
    return place;
  }
  // One after the other: where one is not to be had, the other may be. A group with processes of its own hands no
  // controller down (but the root does), so this works where the service manager has delegated an inner group.
  auto hand_down = [&](const char* controller) {
    const std::string plus = std::string("+") + controller;
    if (!has_word(read_at(above.get(), "cgroup.controllers"), controller)) return false;
    write_at(above.get(), "cgroup.subtree_control", plus);
    write_at(folder.get(), "cgroup.subtree_control", plus);
    return has_word(read_at(folder.get(), "cgroup.subtree_control"), controller);
  };
  place.memory_ = hand_down("memory");
  place.pids_ = hand_down("pids");
  place.folder_ = std::move(folder);
  return place;
}

void CgroupPlace::clear(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos || !path.substr(slash + 1).starts_with(place_prefix)) return;
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder || ::faccessat(folder.get(), "cgroup.kill", W_OK, 0) != 0) return;
  clear_groups(folder.get());
  ::rmdir(path.c_str());
}

std::optional<Cgroup> Cgroup::make(int place, bool memory, bool pids, const std::string& run, const RunLimits& limits) {
  if (place < 0 || (::mkdirat(place, run.c_str(), 0700) != 0 && errno != EEXIST)) return std::nullopt;
  Cgroup group;
  group.place_ = place;
  group.name_ = run;
  group.folder_ = open_folder(place, run);
  if (!group.folder_) return std::nullopt;
  int fd = group.folder_.get();
  if (memory && limits.memory_bytes > 0) {
    write_at(fd, "memory.max", std::to_string(limits.memory_bytes));
    write_at(fd, "memory.swap.max", "0");   // A limit that lets it swap instead would hurt everybody.
    write_at(fd, "memory.oom.group", "1");  // All of it or nothing: half a tree is no use to anybody.
  }
  if (pids && limits.processes > 0) write_at(fd, "pids.max", std::to_string(limits.processes * threads_a_process));
  return group;
}

void Cgroup::clear(int place, const std::string& run) {
  if (place >= 0) clear_group(place, run);
}

void Cgroup::kill() const { write_at(folder_.get(), "cgroup.kill", "1"); }
void Cgroup::remove() const { remove_group(place_, name_); }
int64_t Cgroup::cpu_us() const { return value_of(read_at(folder_.get(), "cpu.stat"), "usage_usec"); }
std::vector<pid_t> Cgroup::members() const {
  std::vector<pid_t> pids;
  const std::string text = read_at(folder_.get(), "cgroup.procs");
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    pid_t pid = 0;
    at = std::from_chars(at, text.data() + text.size(), pid).ptr;
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}
bool Cgroup::out_of_memory() const { return value_of(read_at(folder_.get(), "memory.events"), "oom_kill") > 0; }
bool Cgroup::out_of_processes() const { return value_of(read_at(folder_.get(), "pids.events"), "max") > 0; }

}  // namespace errand::process
