// Where a task works (R16.1): in the folder itself, or in a work tree of its own that its changes are merged from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand {

struct Task;

// `unset`: as the agent has it, else the server's setting. What is unset when a task begins is `none`.
enum class Isolate : uint8_t { unset, none, worktree };
// What the work tree begins with: the last commit, or the folder as it is, with what is uncommitted.
enum class IsolateBase : uint8_t { unset, head, dirty };

std::string_view name(Isolate isolate);
std::string_view name(IsolateBase base);
// Nothing, for "unset": nobody says that.
std::optional<Isolate> parse_isolate(std::string_view text);
std::optional<IsolateBase> parse_isolate_base(std::string_view text);

// A task's own work tree, as it was last heard of from whoever keeps it (decision 31).
struct Isolation {
  std::string kind;           // worktree, clone
  std::string state;          // preparing, ready, merging, conflict, merged, kept, discarded, lost
  std::string path;           // The work tree; empty while it is being prepared.
  std::string work_dir = {};  // The folder of it that the task works in.
  std::string branch = {};
  std::string base = {};    // The commit that it began at.
  std::string repo = {};    // The user's work tree that it was made from.
  std::string target = {};  // The branch that it is to be merged into; empty: none was checked out.
  int64_t bytes = 0;        // What it takes on the disk, as of the last turn; 0: nothing, or not known.
  bool operator==(const Isolation&) const = default;
};

// The folder that the task's work is done in: that of its own work tree, or the one that the launch named.
const std::string& folder_of(const Task& task);

}  // namespace errand
