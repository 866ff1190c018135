// What each task has seen of which file: an agent changes only what it has read, as it was when it read it.
//
// Bounded: past it the oldest are forgotten, and have to be read again. Threads: any.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "base/id.h"
#include "base/mutex.h"
#include "base/result.h"

namespace errand::builtin {

class FileMemory {
 public:
  static constexpr size_t entries_max = 20'000;

  // `identity` as files::identity has it.
  void saw(const TaskId& task, const std::string& path, std::string identity);
  // conflict where the task has not seen this file, or not as it is now.
  Status check(const TaskId& task, const std::string& path, const std::string& identity) const;
  void forget(const TaskId& task);

 private:
  using Key = std::pair<std::string, std::string>;  // Task and path.
  mutable Mutex mutex_;
  std::map<Key, std::string> seen_ GUARDED_BY(mutex_);
  std::deque<Key> order_ GUARDED_BY(mutex_);
};

}  // namespace errand::builtin
