#include "changes/git.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace errand::changes {
namespace {

constexpr size_t complaint_max = 2'000;

// What every call has. A filter cannot be turned off by its name, which the repository chooses: calls that read or
// write files of a work tree use a git_dir whose configuration is ours (repository.h).
constexpr const char* fixed_options[] = {"--no-pager", "--literal-pathspecs",      "-c", "core.fsmonitor=false",
                                         "-c",         "core.hooksPath=/dev/null", "-c", "gc.auto=0",
                                         "-c",         "maintenance.auto=false",   "-c", "core.untrackedCache=false",
                                         "-c",         "protocol.allow=never"};

std::vector<std::string> environment_of(const GitCall& call) {
  std::vector<std::string> list;
  for (char** one = environ; *one != nullptr; ++one)
    if (const std::string_view text(*one);
        !text.starts_with("GIT_") && !text.starts_with("LC_") && !text.starts_with("LANG"))
      list.emplace_back(text);
  for (const char* ours :
       {"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=false", "GIT_EDITOR=false",
        "SSH_ASKPASS=false", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_CEILING_DIRECTORIES=/"})
    list.emplace_back(ours);
  if (call.env.empty())
    for (const char* who : {"GIT_AUTHOR_NAME=errand", "GIT_AUTHOR_EMAIL=errand@localhost", "GIT_COMMITTER_NAME=errand",
                            "GIT_COMMITTER_EMAIL=errand@localhost"})
      list.emplace_back(who);
  if (!call.users_config) {
    list.emplace_back("GIT_CONFIG_NOSYSTEM=1");
    list.emplace_back("GIT_CONFIG_GLOBAL=/dev/null");
  }
  if (!call.git_dir.empty()) list.push_back("GIT_DIR=" + call.git_dir);
  if (!call.work_tree.empty()) list.push_back("GIT_WORK_TREE=" + call.work_tree);
  if (!call.index.empty()) list.push_back("GIT_INDEX_FILE=" + call.index);
  if (!call.object_dir.empty()) list.push_back("GIT_OBJECT_DIRECTORY=" + call.object_dir);
  list.insert(list.end(), call.env.begin(), call.env.end());  // Who writes a commit.
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& list) {
  std::vector<char*> all;
  all.reserve(list.size() + 1);
  for (std::string& one : list) all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

Fd input_of(const std::string& text) {
  if (text.empty()) return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd file(::memfd_create("errand-git", MFD_CLOEXEC));
  for (size_t at = 0; file && at < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    at += static_cast<size_t>(n);
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

Millis now_ms() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000 + at.tv_nsec / 1'000'000;
}

struct Pipe {
  Fd read, write;
  Pipe() {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) == 0) read = Fd(both[0]), write = Fd(both[1]);
  }
};

std::string last_words(std::string text) {
  if (text.size() > complaint_max) text.erase(0, text.size() - utf8_suffix(text, complaint_max));
  return to_utf8(trim(text));
}

}  // namespace

Result<GitDone> run_git(const GitCall& call) {
  std::vector<std::string> words = {"git"};
  words.insert(words.end(), std::begin(fixed_options), std::end(fixed_options));
  words.insert(words.end(), call.args.begin(), call.args.end());
  std::vector<std::string> env = environment_of(call);
  const Fd in =
      call.input_file.empty() ? input_of(call.input) : Fd(::open(call.input_file.c_str(), O_RDONLY | O_CLOEXEC));
  Pipe out, err;
  if (!call.output_file.empty())
    out.write = Fd(::open(call.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!in || !out.write || !err.read)
    return fail(Code::unavailable, fmt::format("git cannot be started: {}.", std::strerror(errno)), "no_git");

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
  ::posix_spawn_file_actions_addchdir_np(&actions, call.work_tree.empty() ? "/" : call.work_tree.c_str());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, "git", &actions, &attributes, pointers(words).data(), pointers(env).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(Code::unavailable,
                error == ENOENT ? std::string("git is not installed, or the folder is gone. errand needs git 2.38 or "
                                              "newer to show what a task changed.")
                                : fmt::format("git cannot be started: {}.", std::strerror(error)),
                "no_git");
  out.write.reset();
  err.write.reset();

  GitDone done;
  const Millis until = now_ms() + call.patience_ms;
  bool slow = false, large = false;
  pollfd both[2] = {{call.output_file.empty() ? out.read.get() : -1, POLLIN, 0}, {err.read.get(), POLLIN, 0}};
  while (!slow && !large && (both[0].fd >= 0 || both[1].fd >= 0)) {
    const Millis left = until - now_ms();
    const int ready = left <= 0 ? 0 : ::poll(both, 2, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    slow = ready == 0;
    for (pollfd& one : both) {
      if (one.fd < 0 || one.revents == 0) continue;
      char bytes[65'536];
      const ssize_t n = ::read(one.fd, bytes, sizeof(bytes));
      std::string& into = &one == &both[0] ? done.out : done.err;
      if (n <= 0)
        one.fd = -1;
      else
        into.append(bytes, static_cast<size_t>(n));
      if (done.err.size() > 4 * complaint_max) done.err.erase(0, done.err.size() - complaint_max);
      large = done.out.size() > call.output_max;
    }
  }
  // Its own group: what it started for itself goes with it.
  if (slow || large) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string what = call.args.empty() ? "git" : "git " + call.args.front();
  if (slow)
    return fail(Code::unavailable,
                fmt::format("{} took longer than {} s, so it was ended.", what, call.patience_ms / 1000), "slow");
  if (large)
    return fail(Code::too_large, fmt::format("{} printed more than {} MiB.", what, call.output_max >> 20), "large");
  done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  done.err = last_words(std::move(done.err));
  return done;
}

Result<std::string> git_output(const GitCall& call) {
  Result<GitDone> done = run_git(call);
  if (!done) return std::unexpected(done.error());
  if (done->exit_code != 0)
    return fail(Code::internal,
                fmt::format("git {} failed{}", call.args.empty() ? "" : call.args.front(),
                            done->err.empty() ? fmt::format(" with code {}.", done->exit_code) : ": " + done->err),
                "git");
  return std::move(done->out);
}

Result<std::string> git_line(const GitCall& call) {
  Result<std::string> out = git_output(call);
  if (out) *out = std::string(trim(*out));
  return out;
}

}  // namespace errand::changes
