// What changes between two texts, as a unified diff for people.
//
// Pure; any thread. Bounded: texts that differ in many lines are compared only at their ends, and what is longer than
// asked for is cut, and says so.
#pragma once

#include <string>
#include <string_view>

namespace errand {

// Empty where the texts have the same lines.
std::string line_diff(std::string_view path, std::string_view before, std::string_view after, size_t bytes_max);

}  // namespace errand
