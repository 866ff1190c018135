// The version of this build, as CMakeLists.txt says.
#pragma once

#include <string_view>

namespace errand {
inline constexpr std::string_view version = ERRAND_VERSION;
}
