#include "process/launch.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "process/cgroup.h"
#include "process/fd.h"

namespace errand::process {
namespace {

enum class Stage : int { none, set_up, enter_folder, execute };

struct Failure {
  Stage stage = Stage::none;
  int error = 0;
};

constexpr rlim_t usual_open_files = 4'096;
constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

std::string_view path_of(const SpawnRequest& request) {
  for (const std::string& entry : request.env)
    if (entry.starts_with("PATH=")) return std::string_view(entry).substr(5);
  return default_path;
}

// Every file that argv[0] may mean, in the order of PATH.
std::vector<std::string> candidates(const SpawnRequest& request) {
  const std::string& program = request.argv[0];
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> files;
  std::string_view path = path_of(request);
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string folder(path.substr(begin, end - begin));
    files.push_back((folder.empty() ? "." : folder) + "/" + program);
    begin = end + 1;
  }
  return files;
}

std::vector<char*> pointers(const std::vector<std::string>& strings, const std::string* last = nullptr) {
  std::vector<char*> list;
  list.reserve(strings.size() + 2);
  for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
  if (last) list.push_back(const_cast<char*>(last->c_str()));
  list.push_back(nullptr);
  return list;
}

// All that the child needs, made before vfork: it shares the keeper's memory and must not allocate.
struct Prepared {
  const ChildSetup& setup;
  std::vector<std::string> files;
  std::vector<char*> file_list, argv, env;
  rlim_t processes = 0;  // Of RLIMIT_NPROC; 0: as it is.
  int tell = -1;         // Where a failure is told.
};

// RLIMIT_NPROC counts all threads of the user, on the whole machine, and not root's at all. So it is no limit of a run,
// but it stops a bomb that is quicker than whoever looks: well above all that the machine has now and the run may have,
// so that nobody meets it by being busy.
rlim_t process_ceiling(int64_t asked) {
  constexpr rlim_t room_least = 8'192;
  constexpr int64_t room_most = 1 << 20;
  if (asked <= 0) return 0;
  long long all = 0;
  std::FILE* file = std::fopen("/proc/loadavg", "re");
  bool known = file && std::fscanf(file, "%*f %*f %*f %*d/%lld", &all) == 1;
  if (file) std::fclose(file);
  if (!known) return 0;
  return static_cast<rlim_t>(all) + std::max(room_least, static_cast<rlim_t>(std::min(asked, room_most)) * 16);
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number : ignored_signals) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Server and supervisor raise their own limit as far as they may; a program must not find it so (some close every
// number up to it, some use select). Where a limit was asked for, it cannot be raised again.
void limit_files(int64_t asked) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  rlim_t wanted = asked > 0 ? static_cast<rlim_t>(asked) : usual_open_files;
  files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
  if (asked > 0) files.rlim_max = files.rlim_cur;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

// Lowers a limit of the kernel; never above what there is.
void lower(int what, rlim_t soft, rlim_t hard) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource_t>(what), &limit);
  limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  ::setrlimit(static_cast<__rlimit_resource_t>(what), &limit);
}

// Any process may make itself the likelier victim.
void be_the_first_to_go() {
  int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] ssize_t n = ::write(file, "500", 3);
  ::close(file);
}

// Runs in the child, on the keeper's memory: system calls only.
[[noreturn]] void become(const Prepared& prepared) {
  const ChildSetup& setup = prepared.setup;
  const int tell = prepared.tell;
  const SpawnRequest& request = setup.request;
  auto give_up = [tell](Stage stage, int error) {
    Failure failure{stage, error};
    [[maybe_unused]] ssize_t n = ::write(tell, &failure, sizeof failure);
    ::_exit(127);
  };
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::dup2(setup.in, 0) < 0 || ::dup2(setup.out, 1) < 0 || ::dup2(setup.err, 2) < 0) give_up(Stage::set_up, errno);
  ::umask(static_cast<mode_t>(request.umask));
  lower(RLIMIT_CORE, 0, 0);
  limit_files(request.limits.open_files);
  // The keeper sees it first: it counts the whole tree.
  if (request.limits.cpu_s > 0)
    lower(RLIMIT_CPU, static_cast<rlim_t>(request.limits.cpu_s) + 2, static_cast<rlim_t>(request.limits.cpu_s) + 5);
  if (prepared.processes > 0) lower(RLIMIT_NPROC, prepared.processes, prepared.processes);
  be_the_first_to_go();
  // The keeper's is its own.
  ::setpriority(PRIO_PROCESS, 0, request.limits.nice != 0 ? request.limits.nice : setup.nice);
  if (::chdir(request.work_dir.c_str()) != 0) give_up(Stage::enter_folder, errno);
  reset_signals();
  int error = ENOENT;
  for (char* const* file = prepared.file_list.data(); *file; ++file) {
    ::execve(*file, prepared.argv.data(), prepared.env.data());
    // As the shell does: a missing one is passed over, one that may not be run is remembered.
    bool passed_over = errno == ENOENT || (errno == ENOTDIR && prepared.files.size() > 1);
    if (!passed_over) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  give_up(Stage::execute, error);
  __builtin_unreachable();
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string explain_folder(const std::string& folder, int error) {
  if (error == ENOENT) return "The work dir " + quoted(folder) + " does not exist; create it or name another.";
  if (error == ENOTDIR) return "The work dir " + quoted(folder) + " is not a folder; name the folder that it is in.";
  if (error == EACCES) return "The work dir " + quoted(folder) + " may not be entered; change its permissions.";
  return "The work dir " + quoted(folder) + " cannot be entered: " + std::strerror(error) + ".";
}

std::string explain_program(const SpawnRequest& request, int error) {
  const std::string& program = request.argv[0];
  bool by_path = program.find('/') != std::string::npos;
  std::string place = by_path && program[0] != '/' ? request.work_dir + "/" + program : program;
  struct stat info{};
  bool exists = by_path && ::stat(place.c_str(), &info) == 0;
  switch (error) {
    case ENOENT:
      if (exists) return quoted(program) + " names an interpreter in its first line that does not exist; install it.";
      if (by_path) return quoted(program) + " does not exist; check the path.";
      return quoted(program) + " was not found in PATH (" + std::string(path_of(request)) +
             "); install it or give its full path.";
    case EACCES:
      if (exists && S_ISDIR(info.st_mode)) return quoted(program) + " is a folder, not a program.";
      return quoted(program) + " may not be executed; make it executable (chmod +x).";
    case ENOTDIR:
      return quoted(program) + " does not exist: a part of its path is not a folder.";
    case ENOEXEC:
      return quoted(program) + " is not a program; a script needs a first line such as #!/bin/sh.";
    case E2BIG:
      return "The arguments and the environment are too long; pass the data in a file.";
    default:
      return quoted(program) + " cannot be started: " + std::strerror(error) + ".";
  }
}

std::string no_process(int error) {
  return std::string("No process can be started: ") + std::strerror(error) + "; try again later.";
}

std::string explain(const SpawnRequest& request, const Failure& failure) {
  switch (failure.stage) {
    case Stage::enter_folder:
      return explain_folder(request.work_dir, failure.error);
    case Stage::execute:
      return explain_program(request, failure.error);
    default:
      return std::string("The process cannot be set up: ") + std::strerror(failure.error) + ".";
  }
}

}  // namespace

Started start_child(const ChildSetup& setup) {
  Prepared prepared{
      setup, candidates(setup.request), {}, pointers(setup.request.argv), pointers(setup.request.env, &setup.marker)};
  prepared.file_list = pointers(prepared.files);
  prepared.processes = process_ceiling(setup.request.limits.processes);
  // A failure is told through a pipe that a successful exec closes: right also where vfork is only a fork (under some
  // sanitizers and emulators). The real one copies nothing.
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return {-1, no_process(errno)};
  Fd listen(pipe[0]), tell(pipe[1]);
  // Born in its group it never was outside; moving it there later would cost milliseconds on a busy machine.
  prepared.tell = tell.get();
  pid_t pid = -1;
  if (setup.cgroup >= 0)
    pid = fork_into(setup.cgroup, [](void* child) { become(*static_cast<const Prepared*>(child)); }, &prepared);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  if (pid < 0) pid = ::vfork();
#pragma clang diagnostic pop
  if (pid == 0) become(prepared);
  if (pid < 0) return {-1, no_process(errno)};
  tell.reset();
  Failure failure;
  ssize_t n = 0;
  do n = ::read(listen.get(), &failure, sizeof failure);
  while (n < 0 && errno == EINTR);
  if (n != sizeof failure) return {pid, {}};
  // The failed child is reaped by the keeper's loop like any other.
  return {-1, explain(setup.request, failure)};
}

}  // namespace errand::process
