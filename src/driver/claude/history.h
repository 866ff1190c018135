// A conversation as Claude Code keeps it: a file of records, one a line, each behind its parent. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "task/message.h"

namespace errand::claude {

// What was said on the way to the last record: what was taken back, what helpers said among themselves and what the
// program keeps beside it is left out, as are records of kinds that are not known. A result of a tool is in the message
// of its call.
std::vector<Message> read_history(std::string_view records);

}  // namespace errand::claude
