// Other programs, on this side of the server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

// Whether there is one of this name on PATH.
bool on_path(std::string_view program);
// Runs it to its end with nothing to read and nowhere to write: whether it could be started (looked for on PATH) and
// ended with 0.
bool succeeds(std::vector<std::string> words);
// The same, and what it printed, at most 64 kB of it; nothing where it failed.
std::optional<std::string> output_of(std::vector<std::string> words);

}  // namespace errand::cli
