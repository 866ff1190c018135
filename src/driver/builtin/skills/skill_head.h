// The head of a SKILL.md: what stands between two lines of "---" at its beginning, of which name and description count.
// Pure, and bounded for any text. What YAML could say beyond plain, quoted and block texts is not understood.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace errand::builtin {

inline constexpr size_t skill_name_max = 64;
inline constexpr size_t skill_description_max = 1'024;  // Characters; a longer one is cut.
inline constexpr size_t skill_head_bytes_max = 16 * 1024;

struct SkillHead {
  std::string name;         // Letters, digits, "-", "_", "."; empty where the head has none.
  std::string description;  // One line.
  size_t body = 0;          // Where the text behind the head begins.
};

// invalid_argument where there is no head, it has no end, or the name or the description is none that can be used.
Result<SkillHead> parse_skill_head(std::string_view text);

bool is_skill_name(std::string_view name);

}  // namespace errand::builtin
