#include "driver/agent_driver.h"

#include <algorithm>

namespace errand {

Capabilities agent_capabilities() {
  return {.message_while_running = true,
          .resume = true,
          .fork = true,
          .reattach = true,
          .keeps_message = true,
          .permissions = true};
}

Status check_prompt(const Launch& launch) {
  if (launch.kind == TaskKind::agent) return {};
  return fail(Code::invalid_argument, "This agent takes a prompt; commands are run by the agent \"command\".");
}

std::string words_of(const Message& message) {
  std::string all;
  for (const Part& part : message.parts) {
    if (part.type != PartType::text && part.type != PartType::notice) continue;
    if (!all.empty()) all += "\n\n";
    all += part.type == PartType::text ? part.text : "<notice>\n" + part.text + "\n</notice>";
  }
  return all;
}

bool is_note(const Message& message) {
  return !message.parts.empty() &&
         std::ranges::all_of(message.parts, [](const Part& part) { return part.type == PartType::notice; });
}

}  // namespace errand
