// prompts/list and prompts/get: the agents that ship with errand, as prompts for the agent that is there already.
#pragma once

#include "mcp/rpc.h"

namespace errand::mcp {

void list_prompts(const RpcPtr& rpc);
void get_prompt(const RpcPtr& rpc);

}  // namespace errand::mcp
