#include "bench/raw.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sqlite3.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bench/load.h"

extern char** environ;

namespace errand::bench {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

sqlite3* open_database(const std::string& path) {
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) die("sqlite");
  sqlite3_exec(database,
               "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=20000;"
               "CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, id TEXT, status INT, agent TEXT, parent TEXT,"
               " batch TEXT, created INT, body TEXT);"
               "CREATE UNIQUE INDEX IF NOT EXISTS a ON t(id); CREATE INDEX IF NOT EXISTS b ON t(status, created);"
               "CREATE INDEX IF NOT EXISTS c ON t(agent, created); CREATE INDEX IF NOT EXISTS d ON t(parent);"
               "CREATE INDEX IF NOT EXISTS e ON t(created);",
               nullptr, nullptr, nullptr);
  return database;
}

class Inserter {
 public:
  explicit Inserter(sqlite3* database) : database_(database) {
    sqlite3_prepare_v2(database,
                       "INSERT INTO t(id,status,agent,parent,batch,created,body) VALUES(?,0,'demo',?,NULL,?,?)", -1,
                       &insert_, nullptr);
  }
  void begin() { sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr); }
  void commit() {
    if (sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) die("commit");
  }
  void insert() {
    char id[40];
    const int length = std::snprintf(id, sizeof id, "task_%026lld", static_cast<long long>(++count_));
    sqlite3_bind_text(insert_, 1, id, length, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert_, 2, id, length, SQLITE_TRANSIENT);
    sqlite3_bind_int64(insert_, 3, count_);
    sqlite3_bind_text(insert_, 4, body_.data(), static_cast<int>(body_.size()), SQLITE_STATIC);
    sqlite3_step(insert_);
    sqlite3_reset(insert_);
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* insert_ = nullptr;
  const std::string body_ = std::string(500, 'x');
  int64_t count_ = 0;
};

// The writer thread: everything that waits goes into one transaction.
class GroupCommit {
 public:
  GroupCommit(const std::string& path, int wake) : wake_(wake), thread_([this, path] { run(path); }) {}
  void add(int connection) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(connection);
    }
    ready_.notify_one();
  }
  std::vector<int> done() {
    const std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
  }

 private:
  void run(const std::string& path) {
    Inserter inserter(open_database(path));
    for (;;) {
      std::vector<int> group;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return !waiting_.empty(); });
        group.swap(waiting_);
      }
      inserter.begin();
      for (size_t i = 0; i < group.size(); ++i) inserter.insert();
      inserter.commit();
      {
        const std::lock_guard lock(mutex_);
        done_.insert(done_.end(), group.begin(), group.end());
      }
      const uint64_t one = 1;
      if (write(wake_, &one, sizeof one) < 0) die("eventfd");
    }
  }

  const int wake_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<int> waiting_, done_;
  std::thread thread_;
};

class Server {
 public:
  Server(int listener, const std::string& folder)
      : listener_(listener), wake_(eventfd(0, EFD_NONBLOCK)), commits_(folder + "/raw.db", wake_) {
    poll_ = epoll_create1(0);
    watch(listener_, EPOLLIN);
    watch(wake_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::vector<epoll_event> events(1024);
    for (;;) {
      const int n = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        const int fd = events[static_cast<size_t>(i)].data.fd;
        if (fd == listener_)
          accept_all();
        else if (fd == wake_)
          answer_commits();
        else if ((events[static_cast<size_t>(i)].events & EPOLLOUT) != 0)
          write_stream(fd);
        else
          read(fd);
      }
    }
  }

 private:
  void watch(int fd, uint32_t what, int how = EPOLL_CTL_ADD) {
    epoll_event event{.events = what, .data = {.fd = fd}};
    epoll_ctl(poll_, how, fd, &event);
  }
  void accept_all() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      const int one = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      watch(fd, EPOLLIN);
    }
  }
  static void answer(int fd, const char* status, const std::string& body) {
    const std::string reply = std::string("HTTP/1.1 ") + status +
                              "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\n\r\n" + body;
    if (send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return;
  }
  void answer_commits() {
    uint64_t count = 0;
    if (::read(wake_, &count, sizeof count) < 0) return;
    for (const int fd : commits_.done()) answer(fd, "201 Created", body_);
  }
  void read(int fd) {
    char buffer[16384];
    const ssize_t n = recv(fd, buffer, sizeof buffer - 1, 0);
    if (n <= 0) {
      streams_.erase(fd);
      close(fd);
      return;
    }
    buffer[n] = 0;
    if (std::strncmp(buffer, "GET /stream", 11) == 0) {
      const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 2000\n\n";
      if (send(fd, head, sizeof head - 1, MSG_NOSIGNAL) > 0) streams_[fd] = 0;
    } else if (std::strncmp(buffer, "GET", 3) == 0) {
      answer(fd, "200 OK", body_);
    } else if (std::strncmp(buffer, "POST /burst", 11) == 0) {
      const char* const n_at = std::strstr(buffer, "n=");
      const char* const size_at = std::strstr(buffer, "size=");
      burst(n_at == nullptr ? 0 : std::atoll(n_at + 2), size_at == nullptr ? 0 : std::atoll(size_at + 5));
      answer(fd, "200 OK", body_);
    } else {
      commits_.add(fd);
    }
  }
  void burst(int64_t count, int64_t size) {
    events_.clear();
    for (int64_t i = 1; i <= count; ++i)
      events_ += "id: " + std::to_string(i) + "\nevent: message.delta\ndata: {\"text\":\"" +
                 std::string(static_cast<size_t>(size), 'x') + "\"}\n\n";
    std::vector<int> readers;
    for (auto& [fd, at] : streams_) {
      at = 0;
      readers.push_back(fd);
    }
    for (const int fd : readers) write_stream(fd);
  }
  // 64 KiB at a time, so that the readers take turns.
  void write_stream(int fd) {
    size_t& at = streams_[fd];
    const size_t length = std::min<size_t>(events_.size() - at, 65536);
    const ssize_t n = send(fd, events_.data() + at, length, MSG_NOSIGNAL);
    if (n > 0) at += static_cast<size_t>(n);
    watch(fd, at < events_.size() ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }

  const int listener_, wake_;
  int poll_ = -1;
  GroupCommit commits_;
  std::map<int, size_t> streams_;
  std::string events_;
  const std::string body_ = "{\"id\":\"task_x\",\"text\":\"" + std::string(390, 'x') + "\"}";
};

}  // namespace

RawServer::RawServer(const std::string& folder) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 4096) != 0)
    die("listen");
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Server(listener, folder).run();
  }
  close(listener);
}

RawServer::~RawServer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

double raw_spawn_rate(int commands, int at_once) {
  const double began = now_seconds();
  int started = 0, running = 0;
  std::map<int, int> pipes;
  while (started < commands || running > 0) {
    while (running < at_once && started < commands) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
      char program[] = "/bin/true";
      char* argv[] = {program, nullptr};
      pid_t pid = 0;
      if (posix_spawn(&pid, program, &actions, nullptr, argv, environ) != 0) die("spawn");
      posix_spawn_file_actions_destroy(&actions);
      close(ends[1]);
      pipes[pid] = ends[0];
      ++started;
      ++running;
    }
    const pid_t pid = waitpid(-1, nullptr, 0);
    const auto known = pipes.find(pid);
    if (known == pipes.end()) continue;  // Somebody else's child.
    char buffer[512];
    while (::read(known->second, buffer, sizeof buffer) > 0) {
    }
    close(known->second);
    pipes.erase(known);
    --running;
  }
  return commands / (now_seconds() - began);
}

double raw_pipe_rate(const std::string& folder, int64_t bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
  const double began = now_seconds();
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    const std::string count = std::to_string(bytes);
    execlp("head", "head", "-c", count.c_str(), "/dev/zero", nullptr);
    std::_Exit(1);
  }
  close(ends[1]);
  const int file = open((folder + "/pipe.out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::vector<char> buffer(1 << 18);
  ssize_t n = 0;
  while ((n = ::read(ends[0], buffer.data(), buffer.size())) > 0)
    if (write(file, buffer.data(), static_cast<size_t>(n)) != n) die("write");
  waitpid(pid, nullptr, 0);
  const double seconds = now_seconds() - began;
  close(file);
  close(ends[0]);
  unlink((folder + "/pipe.out").c_str());
  return static_cast<double>(bytes) / seconds;
}

double raw_commit_micros(const std::string& folder) {
  sqlite3* const database = open_database(folder + "/commit.db");
  Inserter inserter(database);
  std::vector<double> micros;
  for (int i = 0; i < 2'000; ++i) {
    const double began = now_seconds();
    inserter.begin();
    inserter.insert();
    inserter.commit();
    micros.push_back((now_seconds() - began) * 1e6);
  }
  std::ranges::sort(micros);
  return micros[micros.size() / 2];
}

}  // namespace errand::bench
