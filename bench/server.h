// The server under test: the real binary, in a data folder of its own.
#pragma once

#include <string>
#include <vector>

#include "bench/load.h"

namespace errand::bench {

class ServerUnderTest {
 public:
  ServerUnderTest(std::string binary, std::string data_dir, std::vector<std::string> flags = {});
  ~ServerUnderTest();  // Ends it and its supervisor, by pid.

  // Starts it and waits for its first answer. Returns the seconds from exec to that.
  double start();
  void kill_hard();  // SIGKILL, and reaped.
  void stop();       // SIGTERM, and reaped.

  const Target& target() const { return target_; }
  int64_t rss_bytes() const;
  int64_t supervisor_rss_bytes() const;
  double cpu_seconds() const;

 private:
  int supervisor_pid() const;

  const std::string binary_, data_dir_;
  const std::vector<std::string> flags_;
  int pid_ = 0;
  Target target_;
};

// A folder below the system's for temporary files, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace errand::bench
