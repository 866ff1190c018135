// "~" in a path that somebody wrote where no shell reads it.
#pragma once

#include <string>
#include <string_view>

namespace errand {

// "~" and what begins with "~/" from the home folder of this process; every other path as it is.
std::string from_home(std::string_view path);
// The other way, for people: "/home/me/project" is "~/project".
std::string to_home(std::string_view path);

}  // namespace errand
