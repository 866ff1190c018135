// A task's own work tree: made, found lost, removed.
//
// git makes it empty (no hook, no filter); its files are written through the store. It is locked, so that no clean-up
// of the user's takes it, and lies in errand's data folder. Nothing here removes what git refuses to remove.
//
// That of a sandboxed task is a clone: a repository of its own that reads the user's objects. A work tree shares the
// user's configuration, hooks, stash and references, and what is written there runs later, outside of the sandbox.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "changes/record.h"

namespace errand::changes {

// "fix-the-failing-test": letters, digits and dashes, at most 40; "task" where nothing is left of the text.
std::string slug(std::string_view text);

// Makes `record.path` with the branch `record.branch` at `commit` and the files of `tree`; what an earlier try left is
// removed first. On success path, branch and git_dir of the record are set. Errors say what to do; nothing is left
// then. `words`: for the branch's name.
Status make_worktree(const std::string& data_dir, Record& record, const std::string& commit, const std::string& tree,
                     std::string_view words);

// Files that the user's `.worktreeinclude` names and git ignores are copied; none is overwritten. Answers how many
// were.
Result<size_t> copy_included(const Store& store, const Record& record);

// Removes the work tree and, where it still is at `record.tip`, the branch. The work is in the snapshots.
Status remove_worktree(const std::string& data_dir, const Record& record);

// A try to make it was ended in the middle, and no turn has begun in it: what is there goes, the branch too.
void drop_unborn(const std::string& data_dir, Record& record);

// The folder was deleted by somebody else.
bool is_lost(const Record& record);

// Copies objects from the store into the repository whose objects are in that folder: all of `commit` that `without`
// (or nothing) does not have.
Status give_objects(const Store& store, const std::string& objects, const std::string& commit,
                    const std::string& without);
inline std::string users_objects(const Record& record) { return record.repository.common_dir + "/objects"; }

// The commits of a clone come to the store, so that snapshots can stand on them. The store's lock is held.
Status take_commits(const Store& store, const Record& record);

// What a folder takes on the disk. It stops at `entries_max`: what is larger is at least that.
int64_t disk_bytes(const std::string& folder, size_t entries_max = 300'000);

// Why a merged work tree must stay, as a sentence; empty: nothing would be lost with it. Errors count as reasons.
std::string why_it_stays(const Store& store, const Record& record, const std::string& now_commit);

}  // namespace errand::changes
