// Does a script only read (R14.3)? Then nobody has to be asked for it.
//
// Strict: a program, a verb or an option that the table (reads.cc) does not have is no reading; so is everything that
// is only known when it runs (expansions, substitutions), a redirection to or from a file, a variable that is set for a
// command, and every path that is not below the folder it runs in. What only seems to read is asked for; nothing that
// writes, runs something else or waits for ever passes.
//
// Pure; any thread.
#pragma once

#include <string_view>

namespace errand::shell {

bool only_reads(std::string_view script);

}  // namespace errand::shell
