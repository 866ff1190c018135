// The programs of agents that run now, in words.
#pragma once

#include <string>
#include <string_view>

namespace errand::cli {

// By the answer of /api/health: "2 programs at work use 412.0 MB, 1 waits for a further turn with 180.2 MB (max_memory
// 2.1 GB)". Empty where none runs and no limit is set, or where the server does not say.
std::string programs_text(std::string_view health);

}  // namespace errand::cli
