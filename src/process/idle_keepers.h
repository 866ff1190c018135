// Keepers whose run is over and who wait a moment for the next one: where one command follows the other, a fork and
// the end of a process are saved for each. A keeper that waits has no child and no group, and of its last run at most
// the folder open; it is as good as new, and one that had to end anything by force never comes here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "process/fd.h"

namespace errand::process {

class IdleKeepers {
 public:
  struct Keeper {
    pid_t pid = -1;
    Fd control;
  };

  void give(Keeper keeper);
  // Hands `packet` with the three descriptors to one that waits. Nothing: there is none.
  std::optional<Keeper> take(const std::string& packet, int in, int out, int err);
  // It was reaped.
  void forget(pid_t pid);
  // Those that have waited long enough leave. Answers when the next one has (steady ms).
  int64_t tick(int64_t now);
  // All of them leave: each does when its control is closed.
  void dismiss() { waiting_.clear(); }

 private:
  struct Waiting {
    Keeper keeper;
    int64_t until = 0;  // Steady.
  };
  std::vector<Waiting> waiting_;  // The one that waits longest first.
};

}  // namespace errand::process
