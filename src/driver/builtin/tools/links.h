// Links that lead out of a folder: a command that only reads below its folder reads elsewhere through one.
#pragma once

#include <string>
#include <vector>

#include "shell/reads.h"

namespace errand::builtin {

// One of these names, which are below `folder`, is in truth outside of it; or it cannot be told, or not soon. A link
// that is made behind this call is not seen. Blocking.
bool links_lead_out(const std::string& folder, const std::vector<shell::ReadName>& names);

}  // namespace errand::builtin
