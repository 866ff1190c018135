// What errand keeps of a task's changes, in data_dir/changes/tasks/<task>/: the record, the index of its snapshots, and
// behind its end the list and the patch. Written by `errand changes` alone, whole and synced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "changes/repository.h"

namespace errand::changes {

struct Record {
  std::string task;
  std::string work_dir;   // As the launch named it.
  Repository repository;  // The user's.
  std::string store;
  std::string start, end;    // Snapshots; `end` is empty while it works.
  std::string began, ended;  // Wall time in milliseconds.
  // Isolation; `kind` is empty where there is none.
  std::string kind;       // worktree, clone
  std::string state;      // preparing, ready, merging, conflict, merged, kept, discarded, lost
  std::string before;     // While it is being merged, or that is taken back: the state that a refusal leaves.
  std::string moving;     // "yes": then the user's files, or the branch, may be changed already.
  std::string path;       // The work tree.
  std::string git_dir;    // Of it.
  std::string branch;     // "errand/<task>-<words>"
  std::string base;       // The commit that it began at.
  std::string base_kind;  // head, dirty
  std::string target;     // The branch of the user that it is to be merged into: "refs/heads/main"; empty: detached.
  std::string merged_from, merged_to;  // Where the target stood, and where it was put.
  std::string merged_at;               // The work tree that had it; empty: none.
  std::string merged_start;            // While a further turn works behind a merge: the start of what was merged.
  std::string onto;                    // The last merge that a turn came behind: its commit, or the branch of a patch.
  std::string aside_from, aside_to;    // What came between the two is not the task's (aside.h).
  std::string whole;                   // Of a discarded one: all that was there, with what was put aside.
  std::string tip;                     // The branch's commit when the work tree was removed.
  std::string set_up;                  // "done": the set-up command ran in it.
  std::string decided;                 // When it was merged or discarded; wall time in milliseconds.
  std::string looked;                  // When a clean-up last looked at it,
  std::string stays;                   // and why that left it, as a sentence;
  std::string cleaned;                 // or when that removed what was left of it.
  std::string bytes;                   // What the work tree takes on the disk.
  std::string published;               // The last commit that was made to be pushed.

  // A test was, or is, in its work tree, and no turn since: the end stays as it was before.
  bool is_held() const { return !aside_from.empty() && aside_to.empty(); }
  bool is_clone() const { return kind == "clone"; }
  // The task's own work tree, or the user's.
  Repository place() const {
    if (kind.empty()) return repository;
    return {path, git_dir, is_clone() ? git_dir : repository.common_dir};
  }
};

std::string task_folder(const std::string& data_dir, const std::string& task);
// The file that names the last run of the task's set-up command. It stays for as long as the task does.
std::string set_up_mark(const std::string& data_dir, const std::string& task);
// The number in a text of ours; `otherwise` where there is none.
int64_t number_in(const std::string& text, int64_t otherwise);
// All that are kept, by the names of their folders; damaged ones are left out.
std::vector<Record> all_records(const std::string& data_dir);
// Nothing: there is none. internal: it is damaged.
Result<std::optional<Record>> read_record(const std::string& data_dir, const std::string& task);
Status write_record(const std::string& data_dir, const Record& record);

}  // namespace errand::changes
