// How the program is started: its words. Pure.
#pragma once

#include <string>
#include <vector>

#include "task/agent.h"
#include "task/task.h"

namespace errand::claude {

struct Programs {
  std::string claude;  // Absolute.
  std::string errand;  // This binary, for `errand mcp`; empty: Claude Code gets none of errand's tools.
};

// One that speaks lines both ways and asks over them before it uses a tool. `session`: the conversation that it goes
// on with; empty: a new one.
std::vector<std::string> words_of(const Programs& programs, const Task& task, const Agent& agent,
                                  const std::string& session);

// Names of the server's environment that it has beside what every command has: its own settings and its logins, and
// nobody else's. With "*" at the end: beginnings.
std::vector<std::string> environment_names();
// Marks of the conversation that the server itself was started in, which are not this one's.
bool is_session_mark(std::string_view variable);

}  // namespace errand::claude
