// What an agent may do unasked (R4.6): rules, and the strictest of several masters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/task.h"

namespace errand {

// "*" in the pattern stands for any text, also none; "\*" and "\\" for themselves. The whole text must match.
bool matches_pattern(std::string_view pattern, std::string_view text);
// A pattern that matches this text alone.
std::string exact_pattern(std::string_view text);

// The decision of the first rule that matches; null where none does.
const PermissionRule* matching_rule(const std::vector<PermissionRule>& rules, std::string_view tool,
                                    std::string_view subject);

// deny before ask before allow.
Permission stricter(Permission one, Permission other);

// What holds for a call of this task: what was granted for good, then the launch's rules, then its default; and never
// more than each of its parents may. A subject of several lines is allowed where each of them is and denied where one
// is: leave for `git status` is none for `git status; rm -rf /`. One that begins with "? " could not be read: where a
// rule before denies something of this tool, somebody is asked.
struct Decision {
  Permission permission = Permission::ask;
  bool by_rule = false;  // A rule has said so; otherwise the default.
};
Decision permission_for(const Task& task, std::string_view tool, std::string_view subject);

// What a task that this one launches is bound by.
std::vector<PermissionBound> bounds_for_children(const Task& task);

// Says that an agent launches it (through the tools), which may give it no more than it has itself: the engine puts
// what that is in the place of this mark. What the user launches under a task's session has what the user says.
void mark_launched_by_agent(Launch& launch);
bool launched_by_agent(const Launch& launch);

}  // namespace errand
