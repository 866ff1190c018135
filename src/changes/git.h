// The git program, started so that nothing of a repository's own configuration is executed and nobody is asked.
//
// Only for the process of `errand changes`, which the supervisor owns (decision 31): the server itself starts no
// program. Every call is bounded in time and in what it prints. Blocking; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace errand::changes {

struct GitCall {
  std::vector<std::string> args;  // Behind "git" and the options that every call has.
  std::string git_dir;            // Always explicit: a task may rewrite the `.git` of its folder.
  std::string work_tree = {};
  std::string index = {};       // Another index than that of git_dir.
  std::string object_dir = {};  // New objects go here, and those of git_dir are not seen.
  std::string input = {};       // Standard input; empty otherwise. Or:
  std::string input_file = {};
  std::vector<std::string> env = {};  // "NAME=value": who writes a commit, where it is not errand.
  std::string output_file = {};       // Standard output goes into this file instead of GitDone::out.
  Millis patience_ms = 30'000;
  size_t output_max = size_t{64} << 20;
  bool users_config = false;  // For reading settings only: the user's own configuration counts too.
};

struct GitDone {
  int exit_code = 0;
  std::string out;
  std::string err;  // The end of what it complained about, readable.
};

// Runs it to its end. Errors: unavailable (no git, reason `no_git`; it took too long, reason `slow`), too_large (it
// printed more than output_max). An exit code is no error.
Result<GitDone> run_git(const GitCall& call);
// The same where any exit code but 0 is an error: internal, reason `git`, with what git said.
Result<std::string> git_output(const GitCall& call);
// Without the line end.
Result<std::string> git_line(const GitCall& call);

}  // namespace errand::changes
