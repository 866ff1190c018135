// The sandbox of a command: from a level (R9, `sandbox`) to the words that bubblewrap is started with.
//
//   workspace  everything is read-only but the work dir, the artifact folder, add_dirs and a private /tmp; what in HOME
//              and /run opens doors (keys, tokens, agents' sockets, errand's own data folder) is hidden; it sees only
//              its own processes; it cannot gain rights
//   strict     besides, no network, and nothing in the home folders
//
// In a folder that may be written, .git/hooks and .git/config stay read-only: what is written there runs later,
// outside.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "task/task.h"

namespace errand::run {

struct SandboxPlan {
  Sandbox level = Sandbox::workspace;
  std::string bwrap;  // The program.
  std::string work_dir;
  std::vector<std::string> add_dirs;
  std::string artifacts;
  std::string data_dir;      // errand's own.
  std::string home;          // Empty where there is none.
  std::string clone = {};    // The task's own clone of a repository, in errand's data folder: all of it is writable,
  std::string objects = {};  // and the objects that it reads from the user's can be read, wherever they are.
};

// Is this one of the places in `home` that speak for the user somewhere (keys, tokens, histories), or in one? Both are
// resolved. Not by content, by the names that the sandbox hides.
bool is_secret_place(const std::string& home, const std::string& path);

// Refuses folders that would make it no sandbox: the whole system, a home folder, errand's own. They must exist.
Status check_sandbox(const SandboxPlan& plan);

// bwrap, its options and `command`. Looks at the file system for what is there; paths are resolved.
std::vector<std::string> sandbox_argv(const SandboxPlan& plan, const std::vector<std::string>& command);

}  // namespace errand::run
