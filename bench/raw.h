// The raw limits: minimal programs that do only one thing, so that errand's figures can be given as ratios of one run.
#pragma once

#include <cstdint>
#include <string>

namespace errand::bench {

// A server in a child process: raw epoll, one thread; POST stores a row of a task's size with five indexes in SQLite
// (WAL, FULL) through one writer thread with group commit, and answers when it is on disk; GET answers a small JSON;
// GET /stream is a stream, POST /burst?n=N&size=S sends N events to all streams. Returns its port.
class RawServer {
 public:
  explicit RawServer(const std::string& folder);
  ~RawServer();  // Ends the child.
  int port() const { return port_; }

 private:
  int pid_ = 0;
  int port_ = 0;
};

// Commands a second of a loop of posix_spawn /bin/true and wait, `at_once` in flight, output to a pipe that is read.
double raw_spawn_rate(int commands, int at_once);
// Bytes a second from a child's pipe into a file.
double raw_pipe_rate(const std::string& folder, int64_t bytes);
// Median microseconds of one durable SQLite commit of a task's row.
double raw_commit_micros(const std::string& folder);

}  // namespace errand::bench
