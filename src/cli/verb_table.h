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

// In the order in which they are shown.
std::span<const Verb> verbs();

// What people type out of habit: `errand ps` is `errand list`.
struct Alias {
  const char* name;
  const char* verb;
  const char* option;  // Put behind it; empty: none.
};
std::span<const Alias> aliases();

}  // namespace errand::cli
