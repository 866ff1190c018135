#include "process/probe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string_view>
#include <unistd.h>

#include <sys/wait.h>

#include "process/clock.h"
#include "process/fd.h"

namespace errand::process {
namespace {

constexpr int64_t patience_ms = 2'000;
constexpr size_t words_max = 300;  // Of what bwrap says.

std::string look_for(std::string_view path, const std::string& program) {
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string file = std::string(path.substr(begin, end - begin)) + "/" + program;
    if (file[0] == '/' && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

// Runs it, with what it says on standard error. The exit status of waitpid; -1 where it did not end in time.
int run(const std::string& program, const char* const* argv, std::string& said) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return -1;
  Fd listen(fds[0]), tell(fds[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {0, 1}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, tell.get(), 2);
  const char* env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", nullptr};
  pid_t pid = -1;
  int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, const_cast<char* const*>(argv),
                            const_cast<char* const*>(env));
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    said = std::strerror(error);
    return -1;
  }
  tell.reset();
  const int64_t until = steady_ms() + patience_ms;
  for (;;) {
    pollfd ready{listen.get(), POLLIN, 0};
    int64_t left = until - steady_ms();
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) break;
    char buffer[512];
    ssize_t n = ::read(listen.get(), buffer, sizeof buffer);
    if (n <= 0) break;
    said.append(buffer, std::min(static_cast<size_t>(n), words_max - std::min(words_max, said.size())));
  }
  if (steady_ms() >= until) {
    ::kill(pid, SIGKILL);
    said = "it did not end";
  }
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

FoundBwrap find_bwrap(const std::string& path) {
  FoundBwrap found;
  std::string file = look_for(path, "bwrap");
  if (file.empty()) {
    found.why_not = "bubblewrap is not installed; install it (Debian: apt install bubblewrap) and restart errand";
    return found;
  }
  const char* argv[] = {
      "bwrap",         "--ro-bind",         "/",    "/",          "--dev", "/dev",          "--proc",
      "/proc",         "--tmpfs",           "/tmp", "--cap-drop", "ALL",   "--unshare-pid", "--unshare-ipc",
      "--unshare-net", "--die-with-parent", "--",   "/bin/true",  nullptr};
  std::string said;
  int status = run(file, argv, said);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    found.path = file;
    return found;
  }
  said.resize(std::min(said.find('\n'), said.size()));
  found.why_not =
      file + " cannot make a sandbox here (" + (said.empty() ? "it says nothing" : said) +
      "); it needs user namespaces: allow them (in a container: run it with --privileged or a seccomp profile "
      "that lets it; on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0) and restart errand";
  return found;
}

}  // namespace errand::process
