// What the server was started with, taken out of everybody's sight.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace errand::serve {

// The environment of this process, as it was found. The rest of the process sees it too (getenv), but at another place:
// the block that the kernel shows as /proc/PID/environ, to every process of this user and so to every command that is
// not in a sandbox, has no values any more. The server's memory can still be read by who may trace it: only a sandbox
// keeps a command from that. (PR_SET_DUMPABLE would too, for all but root; it also gives /proc/PID to root, by whose
// owner a client tells its own server from another's process, and takes debuggers and profilers from their user.)
class Environment {
 public:
  // The first call moves it. Call it before any other thread runs: getenv knows no lock.
  static const Environment& get();

  const std::vector<std::string>& list() const { return list_; }  // NAME=VALUE
  std::map<std::string, std::string> map() const;

 private:
  Environment();

  std::vector<std::string> list_;
  std::vector<char*> pointers_;  // Into list_: what `environ` is from now on.
};

}  // namespace errand::serve
