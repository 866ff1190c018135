// Keepers whose run is over and that wait a moment for the next one: when commands follow each other, this saves a fork
// and the end of a process for each. A waiting keeper has no child and no group, and at most the folder of its last run
// open. A keeper that had to end anything by force is not used again.
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
  // Ends those that have waited long enough. Returns when the next one has (steady ms).
  int64_t tick(int64_t now);
  // Ends all of them: a keeper exits when its control socket is closed.
  void dismiss() { waiting_.clear(); }

 private:
  struct Waiting {
    Keeper keeper;
    int64_t until = 0;  // Steady.
  };
  std::vector<Waiting> waiting_;  // The one that waits longest first.
};

}  // namespace errand::process
