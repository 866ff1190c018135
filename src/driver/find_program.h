// Programs that are looked for where the server runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand {

// The first `name` in the absolute folders of PATH that can be run; empty where there is none. `environment` has
// "NAME=value". Blocking: for the start of the server.
std::string find_program(const std::vector<std::string>& environment, std::string_view name);
// Where this program itself is; empty where its file is gone.
std::string own_program();

}  // namespace errand
