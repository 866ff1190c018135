// Cutting what one message holds. Each cut says that it is one, and how long the whole was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "task/message.h"

namespace errand::fork {

// `tool_result`: keeps the first `characters` of its text, or, with `both_ends`, four fifths of them from its beginning
// and the rest from its end. False where it is no longer than that.
bool cut_result(Part& result, int64_t characters, bool both_ends);

// Cuts the largest parts of `message` until it has at most `tokens`. Texts keep beginning and end, a call's arguments
// become an object that says what they were, a file becomes a line that names it. The answer is how many parts were
// cut.
int64_t cut_message(Message& message, int64_t tokens);

// 12345 as "12,345".
std::string with_commas(int64_t number);

}  // namespace errand::fork
