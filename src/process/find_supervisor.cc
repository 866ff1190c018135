#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "process/clock.h"
#include "process/connection.h"
#include "process/protocol.h"

namespace errand::process {
namespace {

constexpr Millis look_again_ms = 3;
constexpr time_t connect_patience_s = 2;

void pause_ms(Millis span) { ::poll(nullptr, 0, static_cast<int>(span)); }

// It is started in another directory. What is absolute stays as it is: /proc/self/exe is not the path that it shows.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char* resolved = ::realpath(path.c_str(), nullptr);
  std::string result = resolved ? resolved : path;
  ::free(resolved);
  return result;
}

}  // namespace

Result<FoundSupervisor> SupervisorFinder::find(Millis patience_ms) {
  const int64_t until = steady_ms() + patience_ms;
  Millis pause = look_again_ms;
  bool tried_to_start = false;
  failed_ = 0;
  Error last;
  for (;;) {
    reap();
    auto socket = connect();
    if (socket) {
      auto found = greet(std::move(*socket), until - steady_ms());
      if (found) return found;
      last = found.error();
    } else {
      last = socket.error();
      if (last.code != Code::unavailable) return std::unexpected(last);
      // Again where the one that was started is gone: it may have met an old one that was just leaving.
      if (!tried_to_start || started_.empty()) {
        if (auto status = start(); !status) return std::unexpected(status.error());
        if (tried_to_start) pause = std::min<Millis>(pause * 2, 200);
        tried_to_start = true;
      }
    }
    if (steady_ms() >= until) {
      // One that was started and lives is late, and may still come.
      if (!socket && failed_ > 0) last.reason = supervisor_unavailable;
      return std::unexpected(last);
    }
    pause_ms(pause);
  }
}

Result<Fd> SupervisorFinder::connect() {
  ::mkdir(options_.data_dir.c_str(), 0700);
  Fd folder(::open(options_.data_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return fail(Code::internal,
                "The data folder " + options_.data_dir + " cannot be opened: " + std::strerror(errno) + ".",
                supervisor_unavailable);
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(Code::exhausted, std::string("No socket: ") + std::strerror(errno) + ".");
  // A supervisor that is stopped does not take who waits at its door, and a full queue is not waited at for ever.
  const timeval patience{.tv_sec = connect_patience_s, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_un address = socket_address(folder.get());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Code::unavailable, "The supervisor did not start; see supervisor.log in " + options_.data_dir + ".");
  // Its answer ends up in our commits: only a process of our own user may give it.
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != ::geteuid())
    return fail(Code::forbidden, "The supervisor's socket in " + options_.data_dir + " belongs to another user.");
  return socket;
}

// Detached: its own session, no descriptor (run_supervisor closes what it got), no directory and no variable of ours.
// Secrets of the server's environment have no business in a process that lives longer.
Status SupervisorFinder::start() {
  std::string data_dir = absolute(options_.data_dir);
  std::string self = absolute(options_.self);
  const char* argv[] = {"errand", "supervisor", "--data-dir", data_dir.c_str(), nullptr};
  const char* env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", nullptr};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&actions);
  sigset_t set;
  ::sigemptyset(&set);
  ::posix_spawnattr_setsigmask(&attributes, &set);
  ::sigfillset(&set);
  ::posix_spawnattr_setsigdefault(&attributes, &set);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  for (int fd : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  pid_t pid = -1;
  int error = ::posix_spawn(&pid, self.c_str(), &actions, &attributes, const_cast<char* const*>(argv),
                            const_cast<char* const*>(env));
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) {
    started_.push_back(pid);
    return {};
  }
  return fail(Code::internal, "The supervisor (" + options_.self + ") cannot be started: " + std::strerror(error) + ".",
              supervisor_unavailable);
}

void SupervisorFinder::reap() {
  std::erase_if(started_, [this](pid_t pid) {
    int status = 0;
    const pid_t gone = ::waitpid(pid, &status, WNOHANG);
    if (gone == pid && status != 0) ++failed_;
    return gone != 0;
  });
}

Result<FoundSupervisor> SupervisorFinder::greet(Fd socket, Millis patience_ms) {
  std::string hello = FrameOut()
                          .add("op", "hello")
                          .add("id", 0)
                          .add("version", protocol_version)
                          .add("orphan", options_.orphan_ms)
                          .take();
  const int64_t until = steady_ms() + patience_ms;
  auto gone =
      fail(Code::unavailable, "The supervisor does not answer; see supervisor.log in " + options_.data_dir + ".");
  if (::send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size())) return gone;
  FoundSupervisor found;
  for (;;) {
    pollfd ready{socket.get(), POLLIN, 0};
    int64_t left = until - steady_ms();
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return gone;
    char buffer[4096];
    ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return gone;
    found.reader.append({buffer, static_cast<size_t>(n)});
    auto payload = found.reader.next();
    if (!payload) continue;
    auto fields = Fields::parse(*payload);
    if (!fields || fields->number("version") < 1) return gone;
    found.version = fields->number("version");
    found.build = fields->text("build");
    found.abilities = get_abilities(*fields);
    found.socket = std::move(socket);
    return found;
  }
}

}  // namespace errand::process
