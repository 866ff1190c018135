#include "bench/server.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <unistd.h>

#include <sys/wait.h>

extern char** environ;

namespace errand::bench {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int64_t rss_of(int pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("VmRSS:");
  return at == std::string::npos ? 0 : std::atoll(status.c_str() + at + 6) * 1024;
}

}  // namespace

ServerUnderTest::ServerUnderTest(std::string binary, std::string data_dir, std::vector<std::string> flags)
    : binary_(std::move(binary)), data_dir_(std::move(data_dir)), flags_(std::move(flags)) {}

ServerUnderTest::~ServerUnderTest() {
  stop();
  if (const int pid = supervisor_pid(); pid > 0) kill(pid, SIGTERM);
}

double ServerUnderTest::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::exit(1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, (data_dir_ + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  std::vector<std::string> words = {binary_, "serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir_};
  words.insert(words.end(), flags_.begin(), flags_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const double began = now_seconds();
  if (posix_spawn(&pid_, binary_.c_str(), &actions, nullptr, argv.data(), environ) != 0) {
    std::perror(binary_.c_str());
    std::exit(1);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string line;
  char c = 0;
  while (read(ends[0], &c, 1) == 1 && c != '\n') line.push_back(c);
  close(ends[0]);
  const size_t colon = line.rfind(':');
  if (colon == std::string::npos) {
    std::fprintf(stderr, "the server did not start: %s\n%s", line.c_str(), read_file(data_dir_ + ".log").c_str());
    std::exit(1);
  }
  target_.port = std::atoi(line.c_str() + colon + 1);
  target_.token = read_file(data_dir_ + "/token");
  while (!target_.token.empty() && target_.token.back() == '\n') target_.token.pop_back();
  if (call(target_, "GET", "/api/tasks/running/count").status != 200) {
    std::fprintf(stderr, "the server does not answer\n");
    std::exit(1);
  }
  return now_seconds() - began;
}

void ServerUnderTest::kill_hard() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void ServerUnderTest::stop() {
  if (pid_ == 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

int ServerUnderTest::supervisor_pid() const {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string command = read_file("/proc/" + name + "/cmdline");
    for (char& c : command)
      if (c == 0) c = ' ';
    if (command.find(" supervisor ") != std::string::npos && command.find(data_dir_) != std::string::npos)
      return std::atoi(name.c_str());
  }
  return 0;
}

int64_t ServerUnderTest::rss_bytes() const { return rss_of(pid_); }
int64_t ServerUnderTest::supervisor_rss_bytes() const { return rss_of(supervisor_pid()); }

double ServerUnderTest::cpu_seconds() const {
  const std::string stat = read_file("/proc/" + std::to_string(pid_) + "/stat");
  std::stringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skip;
  for (int i = 0; i < 11; ++i) fields >> skip;
  long user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

TemporaryFolder::TemporaryFolder() {
  const char* const base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/errand-bench-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) std::exit(1);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace errand::bench
