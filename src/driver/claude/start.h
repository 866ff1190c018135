// How the program is started: its words. Pure.
#pragma once

#include <string>
#include <vector>

#include "driver/program/mcp_server.h"
#include "task/agent.h"
#include "task/task.h"

namespace errand::claude {

// A program that speaks lines both ways and asks over them before it uses a tool. `session`: the conversation that it
// goes on with; empty: a new one. `servers`: the file that names its MCP servers, where the task has some.
std::vector<std::string> words_of(const std::string& program, const Task& task, const Agent& agent,
                                  const std::string& session, const std::string& servers);
// Whether it has MCP servers, and what the file says of them. It may hold keys, so it is not among the words, which
// every user of the machine can read.
bool has_servers(const Task& task, const Agent& agent);
std::string servers_file(const std::vector<program::McpServer>& servers);

// Names of the server's environment that it has beside what every command has: its own settings and its logins, and
// nobody else's. With "*" at the end: beginnings.
std::vector<std::string> environment_names();
// Marks of the conversation that the server itself was started in, which are not this one's.
bool is_session_mark(std::string_view variable);

}  // namespace errand::claude
