#include "cli/start_server.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "cli/connection.h"
#include "cli/files.h"
#include "settings/read.h"

namespace errand::cli {

namespace {

constexpr Millis start_ms = 10'000;
constexpr Millis look_ms = 1'000;
constexpr Millis step_ms = 10;
constexpr int default_port = 4747;
constexpr const char* free_port = "127.0.0.1:0";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void pause_ms(Millis ms) { ::poll(nullptr, 0, static_cast<int>(ms)); }

// A port that somebody else listens on (another data folder's server, most likely).
bool default_port_taken() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(default_port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == EADDRINUSE;
}

// What the user has set stands: only where nothing says where to listen, and the default is taken, a free port is.
bool wants_free_port(const std::string& data_dir) {
  if (std::getenv("ERRAND_LISTEN")) return false;
  // A file that cannot be read is the server's to speak of.
  const Result<Settings> settings = read_settings({.data_dir = data_dir}, {});
  if (!settings || std::ranges::find(settings->given, "listen") != settings->given.end()) return false;
  return default_port_taken();
}

Status make_data_dir(const std::string& data_dir) {
  std::error_code error;
  std::filesystem::path folder(data_dir);
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(data_dir.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Code::invalid_argument,
                fmt::format("Cannot make the data folder {}: {}.", data_dir, std::strerror(errno)));
  return {};
}

Result<pid_t> spawn(const std::string& data_dir, const ServeWords& before, const std::string& log) {
  std::error_code error;
  // The real path rather than /proc/self/exe, so that ps shows what runs; that one where the file was replaced.
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error || ::access(program.c_str(), X_OK) != 0) program = "/proc/self/exe";
  std::vector<std::string> words = {"errand"};
  if (before.words.empty()) {
    words.insert(words.end(), {"serve", "--data-dir", data_dir});
    if (wants_free_port(data_dir)) words.insert(words.end(), {"--listen", free_port});
  } else {
    words.insert(words.end(), before.words.begin(), before.words.end());
    // Words that name no data folder meant the one of the environment that they were typed in.
    ::setenv("ERRAND_DATA_DIR", data_dir.c_str(), 1);
  }
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const char* home = std::getenv("HOME");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // Not in the user's current folder: that would keep it from being unmounted or removed.
  const std::string folder = before.folder.empty() && home != nullptr ? home : before.folder;
  posix_spawn_file_actions_addchdir_np(&actions, ::access(folder.c_str(), X_OK) == 0 ? folder.c_str() : "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return fail(Code::unavailable, fmt::format("Cannot start a server: {}.", std::strerror(failed)), "unreachable");
  return pid;
}

// The last lines that the log has got since `from`.
std::string log_since(const std::string& log, off_t from) {
  Descriptor file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0) return {};
  constexpr off_t bytes_max = 2'000;
  from = std::max(from, about.st_size - bytes_max);
  std::string text(static_cast<size_t>(std::max<off_t>(0, about.st_size - from)), '\0');
  ssize_t n = ::pread(file.get(), text.data(), text.size(), from);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, n)));
  std::vector<std::string_view> lines = split(trim(text), '\n');
  std::string out;
  for (size_t i = lines.size() > 5 ? lines.size() - 5 : 0; i < lines.size(); ++i)
    out.append("\n  ").append(shown_line(lines[i]));
  return out;
}

}  // namespace

ServeWords serve_words(int64_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/cmdline", pid));
  ServeWords out;
  bool serves = false;
  // The program, and behind each word, the last one too, a zero.
  std::vector<std::string_view> words = split(text, '\0');
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    serves = serves || words[i] == "serve";
    out.words.emplace_back(words[i]);
  }
  // What a verb chose by itself it may choose otherwise now: the default port may be free again.
  const bool by_a_verb =
      out.words.size() >= 3 && out.words[0] == "serve" && out.words[1] == "--data-dir" &&
      (out.words.size() == 3 || (out.words.size() == 5 && out.words[3] == "--listen" && out.words[4] == free_port));
  if (!serves || by_a_verb) return {};
  std::error_code error;
  out.folder = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error).string();
  return out;
}

Result<Target> start_server(const std::string& data_dir, const ServeWords& words,
                            const std::function<Result<Target>()>& find) {
  if (Status made = make_data_dir(data_dir); !made) return std::unexpected(made.error());
  Time deadline = steady_now() + start_ms;
  Descriptor turn(::open((data_dir + "/start.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (turn.get() < 0)
    return fail(Code::invalid_argument,
                fmt::format("Cannot write to the data folder {}: {}.", data_dir, std::strerror(errno)));
  while (::flock(turn.get(), LOCK_EX | LOCK_NB) != 0) {
    if (steady_now() >= deadline)
      return fail(Code::unavailable,
                  "Another errand has been starting the server for 10 s. See server.log in the data folder.",
                  "unreachable");
    if (Result<Target> found = find()) return found;
    pause_ms(step_ms);
  }
  if (Result<Target> found = find()) return found;  // Whoever had the turn before us has started it.

  std::string log = data_dir + "/server.log";
  off_t log_start = 0;
  // A server that is just leaving still holds the data folder's lock, and one that was started by hand at the same
  // moment may have got it first: ours then ends at once. So look for the other one for a moment, then try once more.
  bool ended = false;
  for (int attempt = 0; attempt < 2; ++attempt) {
    struct stat about = {};
    log_start = ::stat(log.c_str(), &about) == 0 ? about.st_size : 0;
    Result<pid_t> pid = spawn(data_dir, words, log);
    if (!pid) return std::unexpected(pid.error());
    ended = false;
    for (Time until = deadline; steady_now() < until; pause_ms(step_ms)) {
      if (Result<Target> found = find()) return found;
      if (!ended && ::waitpid(*pid, nullptr, WNOHANG) == *pid) {
        ended = true;
        until = std::min(deadline, steady_now() + look_ms);
      }
    }
    if (!ended) break;
  }
  return fail(Code::unavailable,
              fmt::format("The server was started {}. Its log {} ends with:{}\nerrand doctor may say more.",
                          ended ? "and stopped again" : "but is not ready after 10 s", log, log_since(log, log_start)),
              "unreachable");
}

}  // namespace errand::cli
