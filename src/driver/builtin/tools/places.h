// Which file a path means, and whether a call may touch it unasked.
//
// A path is resolved once (links followed, ".." as the kernel has it), and what is opened is the resolved path, without
// any link: one that is swapped between the question and the open leads to an error, not elsewhere.
//
// Inside are the roots (work_dir, add_dirs), the task's artifact folder and, for reading, the logs of its own commands
// and the folders of its skills.
// Outside is everything else, and also, wherever the roots are, errand's own data folder and the places that speak for
// the user (keys, tokens): what is outside is asked for by its real path.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "driver/builtin/tool.h"
#include "files/beneath.h"

namespace errand::builtin {

struct Place {
  std::string real;   // Absolute, resolved. What is behind the last part that exists is as it was given.
  std::string shown;  // Below the work dir relative to it, else the real path: what rules match and people read.
  std::string root;   // The folder below which it is opened, and
  std::string below;  // where; empty: the folder itself.
  bool inside = false;
};

// Folders that a task may read beside its own: those of its skills. Threads: any.
class ReadableFolders {
 public:
  // Resolved paths.
  void set(const TaskId& task, std::vector<std::string> folders);
  std::vector<std::string> of(const TaskId& task) const;
  void forget(const TaskId& task);

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::vector<std::string>> folders_ GUARDED_BY(mutex_);
};

struct PlaceSettings {
  std::string data_dir;  // errand's own.
  std::string home;      // Empty where there is none.
  std::shared_ptr<const ReadableFolders> readable = nullptr;
};

enum class Access : uint8_t { read, write };

class Places {
 public:
  // Resolves the roots, which looks at the file system.
  Places(PlaceSettings settings, const ToolContext& context);

  // invalid_argument where it is no path (empty, a NUL byte, too long). Looks at the file system.
  Result<Place> find(std::string_view path, Access access) const;
  // The same, and refuses what was not allowed: an outside place whose name is not `permitted`; a write that is not.
  Result<Place> find_permitted(std::string_view path, Access access, std::string_view permitted) const;
  // Must a walk leave this (a resolved path) alone?
  bool hidden(const std::string& real) const;
  const std::string& work_dir() const { return work_dir_; }

 private:
  bool own_log(const std::string& real) const;
  Status check_sandboxed(const Place& place) const;

  PlaceSettings settings_;
  TaskId task_;
  bool sandboxed_;
  std::string work_dir_;            // Resolved; the first root.
  std::vector<std::string> roots_;  // Resolved.
  std::vector<std::string> readable_;
  std::string artifacts_;
  std::string data_dir_, home_;  // Resolved.
};

// Opens it as it was found: below its root, without links.
Result<files::File> open_place(const Place& place);
Result<Fd> open_place_folder(const Place& place);

// What a tool that reads says it needs: nothing inside, somebody's word outside.
// The text of a file as it is now, to be shown; nothing where it is none, cannot be read, or is longer than that.
std::optional<std::string> text_of_place(const Place& place, int64_t bytes_max);
Tool::Need need_of(const Place& place, Access access, std::string_view act);

}  // namespace errand::builtin
