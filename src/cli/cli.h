// The command line's way in.
#pragma once

#include "cli/serve.h"

namespace errand::cli {

// Parses the command line, does what it says, and returns the exit code.
int main(int argc, char** argv, const Programs& programs);

}  // namespace errand::cli
