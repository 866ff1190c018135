// The descriptor that closes itself, under the name that this folder has always used.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <unistd.h>
#include <vector>

#include "base/fd.h"

namespace errand::process {
using errand::Fd;

// First of all in a process that was forked and not executed: as long as its copies are open, other runs' pipes do not
// end, and a lock or a socket outlives its owner. Standard input, output and error stay.
inline void close_all_but(std::initializer_list<int> keep) {
  std::vector<int> sorted(keep);
  std::ranges::sort(sorted);
  unsigned next = 3;
  for (int fd : sorted) {
    if (fd < static_cast<int>(next)) continue;
    if (static_cast<unsigned>(fd) > next) ::close_range(next, static_cast<unsigned>(fd) - 1, 0);
    next = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(next, ~0u, 0);
}

}  // namespace errand::process
