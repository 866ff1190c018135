// A task's changes brought to the user's branch, and back. Refuses rather than overwrites: a branch is moved by
// compare-and-set, and a work tree that has it checked out is brought along under git's own lock, after it was found
// that no file of it is in the way. Never checkout, stash or reset.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "changes/record.h"

namespace errand::changes {

// Why it was not done: `files` are in the way (reason in_the_way), or were changed on both sides (reason conflict).
struct Refused {
  Error error;
  std::vector<std::string> files;
};

enum class MergeMode : uint8_t {
  squash,  // One commit on the target.
  merge,   // A merge commit; the task's own commits are its history.
  patch,   // Into the files of the user's work tree, uncommitted.
};
std::optional<MergeMode> parse_merge_mode(std::string_view text);

// Brings the difference of `record.start` and `record.end` to record.target. On success the record says `merged`, and
// where the branch stood and stands. What was refused has changed nothing.
std::optional<Refused> merge_changes(const std::string& data_dir, Record& record, MergeMode mode,
                                     const std::string& message);
// A commit of the same difference on top of what the task began with (behind a merge: of that merge), and of the last
// one that was made so: what is pushed grows, and is never rewritten. The task's own commits where they are all of it.
// No branch is moved. On success record.published is that commit, and both repositories have it.
std::optional<Refused> publish_changes(Record& record, const std::string& message);
// The refusal of an undo where there is nothing to undo.
Refused nothing_to_undo();
// The merge backwards, for as long as the branch is where the merge put it.
std::optional<Refused> undo_merge(const std::string& data_dir, Record& record);

// A merge, or its undoing, that was ended in the middle (the record says `merging`): finished or taken back, by where
// the branch is. Of a patch it is asked whether the files have it.
void settle_merge(const std::string& data_dir, Record& record);

}  // namespace errand::changes
