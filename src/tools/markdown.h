// docs/tools.md, made from the tools' own descriptions so that they cannot disagree. A test holds the file to it.
#pragma once

#include <string>
#include <vector>

#include "tools/tool.h"

namespace errand::tools {

std::string markdown(const std::vector<ToolInfo>& tools);

}  // namespace errand::tools
