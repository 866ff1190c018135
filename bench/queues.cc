#include "bench/queues.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/load.h"

extern char** environ;

namespace errand::bench {
namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "errand_bench: %s\n", what.c_str());
  std::exit(1);
}

using Words = std::vector<std::string>;

// Starts a program with `variables` ("NAME=value") besides our own environment; what it prints goes to `output`.
pid_t start(Words words, const Words& variables, int output) {
  std::vector<char*> argv, environment;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Words mine = variables;
  for (std::string& variable : mine) environment.push_back(variable.data());
  for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) die("could not start " + words[0]);
  return pid;
}

void reap(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) die("a caller of the queue was ended");
}

std::string printed(const Words& words, const Words& variables) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
  const pid_t pid = start(words, variables, ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  reap(pid);
  return text;
}

// Sixteen callers at once, as clients of a server would be.
template <class Put>
void put_all(int commands, Put put) {
  int under_way = 0;
  for (int i = 0; i < commands; ++i) {
    if (under_way == 16) {
      wait(nullptr);
      --under_way;
    }
    put(i);
    ++under_way;
  }
  for (; under_way > 0; --under_way) wait(nullptr);
}

double task_spooler(const std::string& folder, int commands, int at_once, int nowhere) {
  const Words variables = {"TS_SOCKET=" + folder + "/socket", "TMPDIR=" + folder,
                           "TS_MAXFINISHED=" + std::to_string(commands), "TS_MAXCONN=64"};
  printed({"tsp", "-S", std::to_string(at_once)}, variables);
  const double began = now_seconds();
  put_all(commands, [&](int) { start({"tsp", "/bin/true"}, variables, nowhere); });
  for (;;) {
    const std::string list = printed({"tsp"}, variables);
    if (list.find(" queued ") == std::string::npos && list.find(" running ") == std::string::npos) break;
    usleep(2'000);
  }
  const double seconds = now_seconds() - began;
  printed({"tsp", "-K"}, variables);
  return commands / seconds;
}

double nq(const std::string& folder, int commands, int at_once, int nowhere) {
  std::vector<std::string> lines;
  for (int i = 0; i < at_once; ++i) {
    lines.push_back(folder + "/" + std::to_string(i));
    mkdir(lines.back().c_str(), 0700);
  }
  const double began = now_seconds();
  put_all(commands,
          [&](int i) { start({"nq", "/bin/true"}, {"NQDIR=" + lines[static_cast<size_t>(i % at_once)]}, nowhere); });
  for (const std::string& line : lines) printed({"nq", "-w"}, {"NQDIR=" + line});
  return commands / (now_seconds() - began);
}

}  // namespace

double queue_rate(const std::string& queue, const std::string& folder, int commands, int at_once) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const double rate =
      queue == "nq" ? nq(folder, commands, at_once, nowhere) : task_spooler(folder, commands, at_once, nowhere);
  close(nowhere);
  return rate;
}

}  // namespace errand::bench
