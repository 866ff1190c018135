#include "engine/default_agent.h"

#include <algorithm>

#include <fmt/format.h>

namespace errand {
namespace {

bool is_command(const Agent& agent) { return agent.driver == "command"; }

}  // namespace

Result<std::string> default_agent(const std::vector<Agent>& agents, std::string_view wished) {
  if (wished == "auto") {
    const auto first = std::ranges::find_if(agents, [](const Agent& agent) {
      return !is_command(agent) && agent.driver != "demo" && agent.unavailable.empty();
    });
    if (first != agents.end()) return first->id;
    return fail(Code::not_found, "No agent is set up that could do this: errand setup helps to set one up.",
                "no_agent");
  }
  const auto named = std::ranges::find_if(
      agents, [&](const Agent& agent) { return !is_command(agent) && (agent.id == wished || agent.name == wished); });
  if (named != agents.end() && named->unavailable.empty()) return named->id;
  return fail(Code::unavailable,
              fmt::format("The default agent \"{}\" {} Name another one, or choose another default: errand setup",
                          wished, named == agents.end() ? "does not exist." : "cannot be used: " + named->unavailable),
              "default_agent");
}

}  // namespace errand
