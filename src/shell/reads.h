// Does a script only read (R14.3)? Then nobody has to be asked for it.
//
// Strict: a program, a verb or an option that the table (reads.cc) does not have is no reading; so is everything that
// is only known when it runs (expansions, substitutions), a redirection to or from a file, a variable that is set for a
// command, and every path that is not below the folder it runs in. What only seems to read is asked for; nothing that
// writes, runs something else or waits for ever passes.
//
// Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::shell {

bool only_reads(std::string_view script);
// And may, in this folder: not in the home folder or above it, where keys and tokens lie below, nor where none is
// known.
bool only_reads(std::string_view script, std::string_view folder);

// A word that may name a file, as it stands or as a pattern of the shell's.
struct ReadName {
  std::string text;
  bool pattern = false;
};
// Those of a script that only reads. They are all below the folder, unless a link leads out of it: whoever may look at
// the disk sees to that.
std::vector<ReadName> names_read(std::string_view script);

}  // namespace errand::shell
