#include "cli/program.h"

#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <sys/wait.h>

#include "base/text.h"

namespace errand::cli {

bool on_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path ? path : "", ':'))
    if (!folder.empty() && ::access((std::string(folder) + "/" + std::string(program)).c_str(), X_OK) == 0) return true;
  return false;
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
