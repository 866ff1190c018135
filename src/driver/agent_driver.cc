#include "driver/agent_driver.h"

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

}  // namespace errand
