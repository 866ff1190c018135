// A walk through the files of a folder as an agent wants it: in the order of their names, without .git, without what
// .gitignore names, without what Places hides, within bounds. Links are not followed.
//
// Threads: any; blocks on the disk.
#pragma once

#include <functional>
#include <string>

#include <sys/stat.h>

#include "base/result.h"
#include "base/time.h"
#include "driver/builtin/tools/in_background.h"
#include "driver/builtin/tools/places.h"

namespace errand::builtin {

struct TreeHow {
  bool ignored = false;       // Also what .gitignore names.
  int64_t entries = 200'000;  // Names looked at.
  int depth = 48;             // Folders deep.
  Millis patience_ms = 10'000;
};

struct TreeEnd {
  bool stopped = false;  // A bound was met, or the visitor had enough: there may be more.
  std::string why;       // Of a bound: the rest of "the search ...".
};

// One file: its path below the folder that the walk began in, the open folder that it is in and its name there.
struct TreeFile {
  const std::string& path;
  int folder;
  const std::string& name;
  const struct stat& info;
};
// False: enough.
using Visit = std::function<bool(const TreeFile&)>;
// True: nothing below this folder is of interest.
using Skip = std::function<bool(const std::string& path)>;

Result<TreeEnd> walk_tree(const Place& start, const Places& places, const TreeHow& how, Clock& clock,
                          const GivenUp& given_up, const Skip& skip, const Visit& visit);

}  // namespace errand::builtin
