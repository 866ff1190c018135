// What an agent may do without asking (R4.6): its own rules, and the strictest of what its parents may do.
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

// Decides a call of this task: by the launch's rules, else by its default; what was granted by a person is no longer
// asked for, but what a rule denies stays denied; and never more than each of its parents may. A subject of several
// lines is allowed only if each line is, and denied if one line is: a rule for `git status` does not allow `git status;
// rm -rf /`. A line that begins with "? " could not be read: if a rule denies anything of this tool, a person is asked.
struct Decision {
  Permission permission = Permission::ask;
  bool by_rule = false;  // A rule decided; otherwise the default.
};
Decision permission_for(const Task& task, std::string_view tool, std::string_view subject);

// What may be allowed beyond this call, the narrowest first: for a command `npm test *`, for an edit the files below
// its folder. Each line of `pattern` is a pattern for a line of the subject. None where the call could not be read.
struct ProposedPattern {
  std::string pattern;
  std::string text;  // For people: "commands that begin with npm test".
};
std::vector<ProposedPattern> proposed_patterns(std::string_view tool, std::string_view subject);

// The rules by which this tool is allowed from now on: what `pattern` names, or (empty) exactly this subject.
std::vector<PermissionRule> rules_for(std::string_view tool, std::string_view subject, std::string_view pattern);

// The bounds of a task that this one launches.
std::vector<PermissionBound> bounds_for_children(const Task& task);

// Marks a launch as made by an agent (through the tools). Such a task may do no more than the agent itself: the engine
// replaces the mark by the agent's bounds. A task that the user launches under a task's session is not marked: the user
// decides what it may do.
void mark_launched_by_agent(Launch& launch);
bool launched_by_agent(const Launch& launch);

}  // namespace errand
