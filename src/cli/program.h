// Other programs, on this side of the server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::cli {

// Whether there is one of this name on PATH.
bool on_path(std::string_view program);
// Runs it to its end with nothing to read and nowhere to write: whether it could be started (looked for on PATH) and
// ended with 0.
bool succeeds(std::vector<std::string> words);
// The same, and what it printed, at most 64 kB of it; nothing where it failed.
std::optional<std::string> output_of(std::vector<std::string> words);

struct ProgramCall {
  std::vector<std::string> words;  // The program, looked for on PATH, and its arguments: no shell reads them.
  std::string folder = "/";
  std::vector<std::string> set = {};    // "NAME=value", in the place of what this process has.
  std::vector<std::string> unset = {};  // Names.
};
struct ProgramDone {
  int exit_code = 0;  // 128+n for a signal.
  std::string out;    // At most a mebibyte of what it printed.
};
// Runs it to its end, with this process's standard input and error: it may ask the person who sits there. not_found
// where it cannot be started.
Result<ProgramDone> run_program(const ProgramCall& call);

}  // namespace errand::cli
