#include "tests/process/harness.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "process/clock.h"
#include "process/fd.h"
#include "process/protocol.h"
#include "process/tree.h"

namespace errand::process {
namespace {

template <class Visit>
void for_each_process(Visit visit) {
  DIR* dir = ::opendir("/proc");
  while (dirent* entry = ::readdir(dir))
    if (int pid = std::atoi(entry->d_name); pid > 0) visit(pid);
  ::closedir(dir);
}

std::string beside_this_program(const char* name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace

void PumpedExecutor::post(Work work) {
  std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  arrived_.notify_one();
}

bool PumpedExecutor::until(const std::function<bool()>& condition, Millis patience_ms) {
  const int64_t deadline = steady_ms() + patience_ms;
  while (!condition()) {
    std::unique_lock lock(mutex_);
    int64_t left = deadline - steady_ms();
    if (left <= 0) return false;
    // Some conditions change without any work arriving (a process that goes): look again soon.
    if (work_.empty()) arrived_.wait_for(lock, std::chrono::milliseconds(std::min<int64_t>(left, 5)));
    if (work_.empty()) continue;
    Work work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
  }
  return true;
}

Bench::Bench(Groups groups) {
  if (groups == Groups::hidden) std::ofstream(folder.path() + "/no-cgroups") << "";
  reconnect();
}

Bench::~Bench() {
  pid_t supervisor = client_ ? supervisor_pid() : -1;
  client_.reset();
  if (supervisor > 0) {
    ::kill(supervisor, SIGTERM);
    executor.until([supervisor] {
      ProcessStat stat;
      return !read_stat(supervisor, stat) || stat.state == 'Z';
    });
  }
}

void Bench::reconnect() {
  client_.reset();
  auto client = connect_supervisor({folder.path(), test_supervisor()}, executor);
  ASSERT_TRUE(client.has_value()) << client.error().message;
  client_ = std::move(*client);
}

pid_t Bench::supervisor_pid() const {
  Fd dir(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = socket_address(dir.get());
  ucred who{};
  socklen_t size = sizeof who;
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return -1;
  return who.pid;
}

SpawnRequest Bench::command(std::string run, std::vector<std::string> argv) const {
  SpawnRequest request;
  request.run = std::move(run);
  request.argv = std::move(argv);
  request.work_dir = "/";
  request.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/"};
  return request;
}

SpawnRequest Bench::shell(std::string run, const std::string& script) const {
  return command(std::move(run), {"/bin/sh", "-c", script});
}

Status Bench::spawn(SpawnRequest request, RecordedRun& into) {
  std::optional<Status> answer;
  client_->spawn(std::move(request), &into, [&answer](Status status) { answer = std::move(status); });
  if (!executor.until([&answer] { return answer.has_value(); })) return fail(Code::internal, "no answer");
  return *answer;
}

Result<Attached> Bench::attach(const std::string& run, RecordedRun& into) {
  std::optional<Result<Attached>> answer;
  client_->attach(run, &into, [&answer](Result<Attached> attached) { answer = std::move(attached); });
  if (!executor.until([&answer] { return answer.has_value(); })) return fail(Code::internal, "no answer");
  return *answer;
}

bool Bench::wait_end(RecordedRun& run, Millis patience_ms) {
  return executor.until([&run] { return run.end.has_value(); }, patience_ms);
}

double slowdown() {
  const auto now = [](clockid_t clock) {
    timespec at{};
    ::clock_gettime(clock, &at);
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
  };
  const double began = now(CLOCK_MONOTONIC), before = now(CLOCK_THREAD_CPUTIME_ID);
  double computed = 0;
  while (computed < 0.05) computed = now(CLOCK_THREAD_CPUTIME_ID) - before;
  return std::max(1.0, (now(CLOCK_MONOTONIC) - began) / computed);
}

RunEnd Bench::run_to_end(SpawnRequest request, Millis patience_ms) {
  RecordedRun run;
  Status status = spawn(std::move(request), run);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  EXPECT_TRUE(status && wait_end(run, patience_ms));
  client_->forget(&run);
  return run.end.value_or(RunEnd{});
}

Result<int64_t> Bench::input(const std::string& run, int64_t number, std::string bytes) {
  std::optional<Result<int64_t>> answer;
  client_->input(run, number, std::move(bytes), [&answer](Result<int64_t> taken) { answer = std::move(taken); });
  if (!executor.until([&answer] { return answer.has_value(); })) return fail(Code::internal, "no answer");
  return *answer;
}

std::vector<RunStatus> Bench::list() {
  std::optional<Result<std::vector<RunStatus>>> answer;
  client_->list([&answer](Result<std::vector<RunStatus>> runs) { answer = std::move(runs); });
  EXPECT_TRUE(executor.until([&answer] { return answer.has_value(); }));
  return answer && *answer ? **answer : std::vector<RunStatus>{};
}

std::string Bench::printed(const std::string& run) const {
  return printed(run, Stream::out) + printed(run, Stream::err);
}

std::string Bench::printed(const std::string& run, Stream stream) const {
  auto journal = Journal::open(run_folder(folder.path(), run));
  if (!journal) return "(no journal)";
  std::string text;
  for (int64_t offset = 0;;) {
    auto read = (*journal)->read(offset, 1 << 20);
    if (!read) return "(" + read.error().message + ")";
    for (const Piece& piece : read->pieces)
      if (piece.stream == stream) text += piece.bytes;
    if (read->next == offset) return text;
    offset = read->next;
  }
}

std::string test_supervisor() { return beside_this_program("test_supervisor"); }
std::string misbehave() { return beside_this_program("test_misbehave"); }

std::vector<pid_t> processes_with(const std::string& marker) {
  std::vector<pid_t> found;
  for_each_process([&](pid_t pid) {
    std::string arguments = read_text("/proc/" + std::to_string(pid) + "/cmdline");
    ProcessStat stat;
    if (pid == ::getpid() || arguments.find(marker) == std::string::npos) return;
    if (read_stat(pid, stat) && stat.state != 'Z') found.push_back(pid);
  });
  return found;
}

int zombies_of(pid_t parent) {
  int count = 0;
  for (pid_t pid : children_of(parent)) {
    ProcessStat stat;
    if (read_stat(pid, stat) && stat.state == 'Z') ++count;
  }
  return count;
}

std::string new_marker() {
  static std::atomic<int> next{0};
  return "marker-" + std::to_string(::getpid()) + "-" + std::to_string(steady_ms()) + "-" + std::to_string(next++) +
         "-";
}

int open_descriptors(pid_t pid) {
  int count = 0;
  std::error_code ignored;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", ignored))
    ++count;
  return count;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace errand::process
