#include "tools/family.h"

namespace errand::tools {
namespace {
constexpr std::string_view execute_in_seed = "task:execute";
}

ToolName parse_tool_name(std::string_view called) {
  for (const std::string_view family : families) {
    if (!called.starts_with(family) || called.substr(family.size(), 1) != "_") continue;
    std::string_view rest = called.substr(family.size() + 1);
    if (rest == execute_in_seed) rest = "execute";
    return {"background_" + std::string(rest), std::string(family)};
  }
  return {std::string(called), {}};
}

std::string in_family(std::string_view text, std::string_view family) {
  constexpr std::string_view mark = "background_";
  std::string out;
  for (size_t at = 0; (at = text.find(mark)) != std::string_view::npos; text.remove_prefix(at + mark.size())) {
    out.append(text.substr(0, at)).append(family).push_back('_');
  }
  return out.append(text);
}

}  // namespace errand::tools
