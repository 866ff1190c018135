// A conversation as one text, for an agent whose program cannot be given the messages of another one. Pure.
#pragma once

#include <string>
#include <vector>

#include "task/message.h"

namespace errand::fork {

// Who said what, calls with their names, ids and arguments, results below them; what the system says (the preamble of a
// fork) stands as it is. Reasoning is left out: it is of use to its own model alone.
std::string transcript(const std::vector<Message>& messages);

}  // namespace errand::fork
