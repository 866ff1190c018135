// The command line's way in.
#pragma once

namespace errand::cli {

// Parses the command line, does what it says, and returns the exit code.
int main(int argc, char** argv);

}  // namespace errand::cli
