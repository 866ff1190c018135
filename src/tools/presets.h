// Agents that ship with errand, as data: presets/*.md, put into the binary when it is built. A file has a head between
// two lines "---" (id, name, driver, description, tools: one line each) and below it the system prompt.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace errand::tools {

Result<Agent> parse_preset(std::string_view file);

// All of them, their tools and prompts in the words of the family that is listed.
std::vector<Agent> preset_agents(std::string_view family);

// The embedded files, by name.
struct PresetFile {
  std::string_view name;
  std::string_view text;
};
std::vector<PresetFile> preset_files();

}  // namespace errand::tools
