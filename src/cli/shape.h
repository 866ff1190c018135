// The command line as values, for those who describe it (completions, the manual, the overview) rather than parse it.
// Read from the verb table and CLI11, so that whatever a verb takes is here by itself.
#pragma once

#include <string>
#include <vector>

#include "cli/verb_table.h"

namespace errand::cli {

struct OptionShape {
  std::vector<std::string> names;  // "-t", "--title"; of a positional argument its bare name, alone.
  std::string value;               // What the help calls its value; empty: a flag.
  std::string help;
  std::vector<std::string> choices;  // All values that it takes; empty: not a fixed few.
  std::string preset;                // Its default as the help shows it; empty: none.
  bool positional = false;
  bool required = false;
  bool many = false;  // A positional that takes all words that follow.

  bool is(const std::string& name) const;
  const std::string& longest() const { return names.back(); }
};

// What a verb takes beside the options of every verb: options and positional arguments, in the order of its help.
std::vector<OptionShape> options_of(const Verb& verb);
// The options of every verb.
std::vector<OptionShape> global_options();

// The verb of that name, also by its other names ("ls"); null where there is none.
const Verb* find_verb(const std::string& name);

// What people type out of habit: `errand ps` is `errand list`.
struct Alias {
  const char* name;
  const char* verb;
  const char* option;  // Put behind it; empty: none.
};
// Null: it is none.
const Alias* find_alias(const std::string& name);

}  // namespace errand::cli
