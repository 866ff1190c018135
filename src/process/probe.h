// What the supervisor can do on this machine: tried once, at its start.
#pragma once

#include <string>

namespace errand::process {

struct FoundBwrap {
  std::string path;     // Empty: none that works, and
  std::string why_not;  // this says why, and what to do.
};

// Looks for bubblewrap in `path` (as PATH) and makes a sandbox with it as a run would have: blocking, a few
// milliseconds, two seconds at most.
FoundBwrap find_bwrap(const std::string& path);

}  // namespace errand::process
