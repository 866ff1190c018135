#include "serve/agent_servers.h"

#include "driver/find_program.h"

namespace errand::serve {

std::vector<program::McpServer> agent_servers(const Settings& settings,
                                              const std::map<std::string, std::string>& environment,
                                              const StringMap& reach, const Task& task) {
  // Where its file was replaced or removed meanwhile, the one on PATH does.
  std::string own = own_program();
  if (own.empty()) own = "errand";
  std::vector<program::McpServer> servers = {
      {.name = "errand", .command = {std::move(own), "mcp", "--session", task.session_id.value}, .env = reach}};
  const auto add = [&](StringMap& into, const std::string& name, const std::string& variable) {
    if (const auto found = environment.find(variable); found != environment.end()) into[name] = found->second;
  };
  for (const auto& [name, set] : settings.mcp) {
    program::McpServer server{
        .name = name, .command = set.command, .env = set.env, .url = set.url, .headers = set.headers};
    for (const std::string& variable : set.pass_env) add(server.env, variable, variable);
    for (const auto& [header, variable] : set.headers_env) add(server.headers, header, variable);
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace errand::serve
