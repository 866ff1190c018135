// Every verb of the command line: its words for people, and what it may be given.
#pragma once

#include <functional>
#include <span>

#include "cli/args.h"

namespace CLI {
class App;
}

namespace errand::cli {

// Adds a verb's options to its app and returns what makes its arguments once the line is parsed.
using Made = std::function<VerbArgs()>;
using Setup = Made (*)(CLI::App&, Globals&);

struct Verb {
  const char* name;
  const char* group;  // Empty: not shown.
  const char* summary;
  const char* example;
  Setup setup;
};

// The options of every verb.
void globals_setup(CLI::App& app, Globals& globals);

// In the order in which they are shown.
std::span<const Verb> verbs();

}  // namespace errand::cli
