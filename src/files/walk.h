// The files below a folder, within bounds. Links are not followed: a link, a fifo, a socket or a device is counted and
// left out. What changes meanwhile is seen or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "files/beneath.h"
#include "files/glob.h"

namespace errand::files {

struct WalkLimits {
  int64_t entries = 100'000;  // Names looked at.
  int depth = 32;
  size_t files = 1'000;  // Found.
  Time deadline;         // Steady; never by default.
};

struct Found {
  std::string path;  // Below the root; bytes, not always UTF-8.
  int64_t size = 0;
  Time modified;
};

struct Walked {
  std::vector<Found> files;  // By path.
  int64_t links = 0;         // Links, fifos, sockets and devices that would have been files.
  int64_t over = 0;          // Files past the limit.
  bool stopped = false;      // A bound was reached: there may be more files.
};

// All files, or, where there are patterns, those that one of them means.
Walked walk(const Root& root, const std::vector<Glob>& globs, const WalkLimits& limits, Clock& clock);
// Is there anything in it at all?
bool is_empty(const Root& root);

}  // namespace errand::files
