// What may stand where the cursor is, for the completions of shells. Pure: what only a server knows is named, not
// asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace errand::cli {

struct Suggestion {
  std::string word;  // The whole word that is to stand there.
  std::string help;
};

// What only others know.
enum class Lookup : uint8_t {
  none,
  tasks,
  batches,
  agents,
  tools,
  files,     // The shell's own: any path,
  folders,   // folders alone,
  commands,  // programs.
};

struct Suggestions {
  std::vector<Suggestion> words;  // Those that begin as typed.
  Lookup lookup = Lookup::none;   // What more may stand there.
  std::string verb;               // Whose argument it is; empty: none's yet.
  std::string before;             // Of the word that was typed, what stands before the value: "--agent=".
  std::string typed;              // The value's beginning.
};

// `line`: the words after "errand", the last one being typed (it may be empty).
Suggestions suggest(const std::vector<std::string>& line);

}  // namespace errand::cli
