// The system prompt: the agent's own words or ours, then what is true of this task. Pure, and the same for the same
// input, so that a provider can keep it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace errand::builtin {

struct PromptInput {
  std::string agent_prompt;  // Empty: default_prompt.
  Time today;                // Wall time; only its day is used.
  std::string work_dir;
  std::vector<std::string> add_dirs;
  std::string instructions;  // AGENTS.md of the work dir; empty: none.
  std::string skills;        // What TurnTools says of them; empty: none.
};

inline constexpr size_t instructions_max = 64 * 1024;  // Bytes of AGENTS.md; the rest is cut and said.

std::string_view default_prompt();
std::string system_prompt(const PromptInput& input);

}  // namespace errand::builtin
