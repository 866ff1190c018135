// The folders for artifacts (R9.4). Most commands leave nothing in theirs: it is kept for the next task then, under a
// name that is nobody's. To make a folder, and to remove one, is dear on many file systems; to rename one is not.
//
// Threads: any; all calls block on the disk of the data folder.
#pragma once

#include <bitset>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "driver/run/options.h"

namespace errand::run {

class ArtifactFolders {
 public:
  explicit ArtifactFolders(std::shared_ptr<const Options> options) : options_(std::move(options)) { full_.set(); }

  // The task's folder, which is there when it returns: what it had, or an empty one.
  Result<std::string> make(const TaskId& task);
  // The task's run is over, and its folder is empty. Where it is not as it was made, it stays where it is.
  void give_back(const TaskId& task);

 private:
  static constexpr size_t spare_max = 16;
  std::string spare(size_t number) const;
  // The number of one that is there (or, of a place that is free), which is somebody else's no longer.
  std::optional<size_t> take(bool full);

  const std::shared_ptr<const Options> options_;
  std::mutex mutex_;
  // Which spare ones there may be: at the start all of them, left by the server before. Guarded by mutex_.
  std::bitset<spare_max> full_;
};

}  // namespace errand::run
