#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/text.h"

namespace errand::cli {

bool on_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path ? path : "", ':'))
    if (!folder.empty() && ::access((std::string(folder) + "/" + std::string(program)).c_str(), X_OK) == 0) return true;
  return false;
}

Result<ProgramDone> run_program(const ProgramCall& call) {
  constexpr size_t out_max = 1 << 20;
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  const auto name_of = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
  std::vector<std::string> words = call.words, env = call.set;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view name = name_of(*one);
    const bool replaced = std::ranges::any_of(call.set, [&](const std::string& set) { return name_of(set) == name; });
    if (!replaced && std::ranges::find(call.unset, name) == call.unset.end()) env.emplace_back(*one);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be started: {}.", words.front(), std::strerror(errno)));
  Fd read(ends[0]), write(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, write.get(), 1);
  ::posix_spawn_file_actions_addchdir_np(&actions, call.folder.c_str());
  // This process ignores it; what it starts does not expect that.
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, words.front().c_str(), &actions, &attributes, pointers(words).data(), pointers(env).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return fail(Code::not_found, fmt::format("{} cannot be started: {}.", words.front(), std::strerror(failed)));
  write.reset();
  ProgramDone done;
  for (;;) {
    char bytes[16'384];
    const ssize_t n = ::read(read.get(), bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done.out.append(bytes, std::min(static_cast<size_t>(n), out_max - std::min(out_max, done.out.size())));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return done;
}

namespace {

// `out`: where it writes to; -1: nowhere. 0: it could not be started.
pid_t spawn(std::vector<std::string>& words, int out) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, 1);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : 0;
}

bool ended_well(pid_t pid) {
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool succeeds(std::vector<std::string> words) { return ended_well(spawn(words, -1)); }

std::optional<std::string> output_of(std::vector<std::string> words) {
  constexpr size_t bytes_max = 64 << 10;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t pid = spawn(words, ends[1]);
  ::close(ends[1]);
  std::string text;
  char piece[4'096];
  // To its end, also past the bound: a program whose output nobody reads would not end.
  for (ssize_t n = 0; pid > 0 && (n = ::read(ends[0], piece, sizeof piece)) > 0;)
    if (text.size() < bytes_max) text.append(piece, static_cast<size_t>(n));
  ::close(ends[0]);
  if (!ended_well(pid)) return std::nullopt;
  return text;
}

}  // namespace errand::cli
