// From one picture of the screen to the next: only the lines that changed are written. Pure.
#pragma once

#include <string>

#include "cli/top_layout.h"

namespace errand::cli {

// What to write where `before` stands on the screen; an empty one: nothing is known of what stands there.
std::string paint(const Frame& before, const Frame& now);

}  // namespace errand::cli
