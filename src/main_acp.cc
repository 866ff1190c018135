#include "main_acp.h"

#include "driver/find_program.h"

namespace errand {

std::vector<acp::McpServer> acp_servers(const cli::Settings& settings,
                                        const std::map<std::string, std::string>& environment, const StringMap& reach,
                                        const Task& task) {
  const std::string program = own_program();  // Its file may have been replaced meanwhile.
  std::vector<acp::McpServer> servers = {
      {.name = "errand",
       .command = {program.empty() ? "errand" : program, "mcp", "--session", task.session_id.value},
       .env = reach}};
  const auto add = [&](StringMap& into, const std::string& name, const std::string& variable) {
    if (const auto found = environment.find(variable); found != environment.end()) into[name] = found->second;
  };
  for (const auto& [name, set] : settings.mcp) {
    acp::McpServer server{.name = name, .command = set.command, .env = set.env, .url = set.url, .headers = set.headers};
    for (const std::string& variable : set.pass_env) add(server.env, variable, variable);
    for (const auto& [header, variable] : set.headers_env) add(server.headers, header, variable);
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace errand
