// errand agents: who can be asked.
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

int agents(Context& context, const AgentsArgs&) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<std::vector<AgentInfo>> agents = parse_agents(*body);
  if (!agents) return screen.fail(agents.error());
  std::vector<std::vector<Cell>> rows;
  for (const AgentInfo& agent : *agents) {
    const bool usable = agent.unavailable.empty();
    const std::string words =
        usable ? agent.description : "(not usable here: " + agent.unavailable + ") " + agent.description;
    rows.push_back({{agent.id, usable ? "1" : "2"}, {agent.driver, ""}, {agent.model, ""}, {words, "2"}});
  }
  screen.out(screen.out_is_terminal() ? render_table({{"AGENT"}, {"DRIVER"}, {"MODEL", 10}, {"DESCRIPTION", 20}}, rows,
                                                     {screen.width(), screen.colours(), true})
                                      : render_tabs(rows));
  return code(Exit::ok);
}

}  // namespace errand::cli
