// The folder in which a run may leave files, in the hands of its keeper: made before the run starts, and gone after it
// where nothing was left, as with most commands. To make a folder and to remove one is dear on many file systems, to
// rename one is not: a keeper keeps an empty one, under a name that is no task's, for its next run.
#pragma once

#include <string>

namespace errand::process {

// What the names of such empty folders begin with. A keeper that is killed leaves its own behind: whoever sweeps the
// place may remove any of them at any time.
inline constexpr const char* spare_prefix = ".spare.";

class ArtifactFolder {
 public:
  ArtifactFolder() = default;
  ArtifactFolder(const ArtifactFolder&) = delete;
  ArtifactFolder& operator=(const ArtifactFolder&) = delete;
  // The empty one goes. (Nothing is done where the process is killed: see spare_prefix.)
  ~ArtifactFolder();

  // `path` is a folder of ours alone when it returns: what it was with all that is in it, or an empty one. 0 or errno.
  int make(const std::string& path);
  // The run is over. True: nothing is in `path`, and it is gone. False: something is, or nobody knows; it stays.
  bool take_back(const std::string& path);

 private:
  std::string spare_;  // Empty: there is none.
};

}  // namespace errand::process
