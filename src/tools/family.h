// The names of the tools. Four families name the same calls (R8): `background_task` is also `superagents_task`,
// `asyncagents_task` and `bgagent_task`; seed 002's `background_task:execute` is `background_execute`.
// `session_manager` and `look_at` have no prefix.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "task/tool_families.h"

namespace errand::tools {

inline constexpr auto& families = tool_families;

// A name as it was called.
struct ToolName {
  std::string name;    // In the family `background`.
  std::string family;  // Of the name that was called; empty where it has none.
};
ToolName parse_tool_name(std::string_view called);

// A text of ours that names tools in the family `background`, in the words of another family.
std::string in_family(std::string_view text, std::string_view family);

}  // namespace errand::tools
