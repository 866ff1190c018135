// What background_task and background_execute share: the fields of a launch and how its start is told. Inside tools/
// only.
#pragma once

#include <string>
#include <string_view>

#include "tools/call.h"

namespace errand::tools {

// The fields of launch_properties(), by the rules of api/launch.h; and who launches.
void read_launch(api::Fields& fields, const Caller& caller, Launch& launch);
// Their JSON Schema, the inside of "properties". `timeout_default`: of this tool's tasks, in words.
std::string launch_properties(std::string_view timeout_default);

void launch(const CallPtr& call, Launch launch);
// "Started task_...", and what to do next.
std::string started(const Call& call, const TaskView& view);

}  // namespace errand::tools
