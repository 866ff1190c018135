// Another program, run to its end with nothing to read and nowhere to write.
#pragma once

#include <string>
#include <vector>

namespace errand::cli {

// Whether it could be started (looked for on PATH) and ended with 0.
bool succeeds(std::vector<std::string> words);

}  // namespace errand::cli
