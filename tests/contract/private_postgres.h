// A PostgreSQL of the test's own: in a folder under /tmp, on a unix socket, with fsync on. It ends with the test
// program, also where that is killed.
//
// PostgreSQL refuses to run as root: then it runs as the user `postgres`, which Debian's package makes.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/test_folder.h"

namespace errand {

class PrivatePostgres {
 public:
  // Made and started; ends the program where that is not possible, and says why.
  PrivatePostgres();
  ~PrivatePostgres();
  PrivatePostgres(const PrivatePostgres&) = delete;

  // The one that all tests of a program share, started at the first call.
  static PrivatePostgres& shared();

  const std::string& url() const { return url_; }
  // Ends it at once, as a power cut would, and waits until it is gone.
  void kill();
  // Starts it again and waits until it answers.
  void start();

 private:
  void end(int signal);
  pid_t run(const std::string& program, const std::vector<std::string>& arguments) const;

  TestFolder folder_;
  std::string programs_;
  std::string url_;
  pid_t pid_ = -1;
};

}  // namespace errand
