#include "tools/presets.h"

#include "base/check.h"
#include "base/text.h"
#include "tools/family.h"

namespace errand::tools {
namespace {

constexpr std::string_view fence = "---\n";

std::unexpected<Error> wrong(std::string sentence) {
  return fail(Code::invalid_argument, "A preset " + std::move(sentence) + ".", "bad_preset");
}

}  // namespace

Result<Agent> parse_preset(std::string_view file) {
  if (!file.starts_with(fence)) return wrong("begins with a line of ---");
  file.remove_prefix(fence.size());
  const size_t end = file.find("\n---\n");
  if (end == std::string_view::npos) return wrong("has a second line of --- below its head");
  Agent agent;
  for (const std::string_view line : split(file.substr(0, end), '\n')) {
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return wrong("has lines of the form `name: value` in its head");
    const std::string_view key = line.substr(0, colon);
    const std::string value(trim(line.substr(colon + 2)));
    if (key == "id") {
      agent.id = value;
    } else if (key == "name") {
      agent.name = value;
    } else if (key == "driver") {
      agent.driver = value;
    } else if (key == "description") {
      agent.description = value;
    } else if (key == "model") {
      agent.model = value;
    } else if (key == "tools") {
      for (const std::string_view tool : split(value, ',')) agent.tools.emplace_back(trim(tool));
    } else {
      return wrong("has no `" + std::string(key) + "`; known are id, name, driver, description, model, tools");
    }
  }
  agent.prompt = trim(file.substr(end + 5));
  if (agent.id.empty() || agent.name.empty() || agent.driver.empty() || agent.prompt.empty())
    return wrong("has an id, a name, a driver and a prompt");
  return agent;
}

std::vector<Agent> preset_agents(std::string_view family) {
  std::vector<Agent> agents;
  for (const PresetFile& file : preset_files()) {
    Result<Agent> agent = parse_preset(file.text);
    ERRAND_CHECK(agent.has_value(), "the presets that ship can be read");
    agent->prompt = in_family(agent->prompt, family);
    for (std::string& tool : agent->tools) tool = in_family(tool, family);
    agents.push_back(std::move(*agent));
  }
  return agents;
}

}  // namespace errand::tools
