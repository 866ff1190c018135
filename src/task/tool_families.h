// The families of the tools' names: `background_task` is also `superagents_task`, `asyncagents_task` and `bgagent_task`
// (R8). The one list of them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace errand {

inline constexpr std::array<std::string_view, 4> tool_families = {"background", "superagents", "asyncagents",
                                                                  "bgagent"};

constexpr bool is_tool_family(std::string_view name) {
  return std::ranges::find(tool_families, name) != tool_families.end();
}

}  // namespace errand
