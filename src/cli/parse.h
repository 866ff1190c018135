// The command line. parse.cc is the only unit that sees CLI11.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "cli/args.h"

namespace errand::cli {

struct Parsed {
  Globals globals;
  VerbArgs verb;
};

// Nothing to do but to print and end: help was asked for (exit 0, for standard output), or the command line is wrong
// (exit 2, for standard error).
struct Stop {
  Exit exit = Exit::usage;
  std::string text;
  bool json = false;  // --json stood somewhere on the line.
};

// `words` without the program's name. Reads ERRAND_DATA_DIR, XDG_DATA_HOME and ERRAND_URL for what is not given.
std::expected<Parsed, Stop> parse(const std::vector<std::string>& words);

// The nearest of `known` to a mistyped word; empty where none is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace errand::cli
