#include "tests/contract/private_postgres.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <pwd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "store/postgres/connection.h"

namespace errand {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "No PostgreSQL for the tests: %s\n", why.c_str());
  std::abort();
}

// The newest that is installed; Debian keeps the server's programs out of PATH.
std::string find_programs() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored))
    if (fs::exists(entry.path() / "bin/initdb")) found.push_back(entry.path() / "bin");
  if (found.empty()) give_up("install it (Debian: apt install postgresql-15).");
  return *std::ranges::max_element(found);
}

}  // namespace

PrivatePostgres::PrivatePostgres() : programs_(find_programs()) {
  if (::geteuid() == 0) {
    const passwd* const user = ::getpwnam("postgres");
    if (!user) give_up("it does not run as root, and there is no user `postgres`.");
    if (::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) give_up("its folder cannot be given away.");
  }
  url_ = fmt::format("postgresql://{}@/postgres?host={}",
                     ::geteuid() == 0 ? "postgres" : ::getpwuid(::geteuid())->pw_name, folder_.path());
  const pid_t made =
      run("initdb", {"-D", folder_ / "data", "-A", "trust", "-E", "UTF8", "--locale=C", "-k", "--no-sync"});
  int status = 0;
  if (::waitpid(made, &status, 0) != made || status != 0) give_up("initdb failed; see " + folder_ / "log");
  start();
}

// Not as a power cut: it takes its shared memory away.
PrivatePostgres::~PrivatePostgres() { end(SIGQUIT); }

void PrivatePostgres::kill() { end(SIGKILL); }

PrivatePostgres& PrivatePostgres::shared() {
  static PrivatePostgres postgres;
  return postgres;
}

pid_t PrivatePostgres::run(const std::string& program, const std::vector<std::string>& arguments) const {
  // Everything that allocates is done before the fork.
  const std::string path = programs_ + "/" + program, log = folder_ / "log";
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const passwd* const user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
  const uid_t uid = user ? user->pw_uid : 0;
  const gid_t gid = user ? user->pw_gid : 0;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) give_up("fork failed.");
  if (child > 0) return child;
  if (uid != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(gid) != 0 || ::setuid(uid) != 0)) ::_exit(126);
  // Behind setuid, which takes it away.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent) ::_exit(126);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (::chdir("/") != 0) ::_exit(126);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void PrivatePostgres::start() {
  for (int attempt = 0; attempt < 3'000; ++attempt) {
    // It goes again as long as processes of one that was killed are still there.
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    if (pid_ <= 0)
      pid_ = run("postgres",
                 {"-D", folder_ / "data", "-k", folder_.path(), "-c", "listen_addresses=", "-c", "fsync=on", "-c",
                  "max_connections=60", "-c", "shared_buffers=32MB", "-c", "recovery_init_sync_method=syncfs"});
    const Result<postgres::Connection> up = postgres::Connection::open({.url = url_, .schema = "public"});
    if (up) return;
    if (up.error().code == Code::unsupported) give_up(up.error().message);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  give_up("it does not answer; see " + folder_ / "log");
}

void PrivatePostgres::end(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace errand
