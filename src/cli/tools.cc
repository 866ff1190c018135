// errand tools: what agents can call.
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

int tools(Context& context, const ToolsArgs&) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get("/api/tools");
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<std::vector<ToolEntry>> tools = parse_tools(*body);
  if (!tools) return screen.fail(tools.error());
  std::vector<std::vector<Cell>> rows;
  for (const ToolEntry& tool : *tools) rows.push_back({{tool.name, "1"}, {tool.title, ""}, {tool.example, "2"}});
  screen.out(screen.out_is_terminal() ? render_table({{"TOOL"}, {"DOES", 20}, {"EXAMPLE", 20}}, rows,
                                                     {screen.width(), screen.colours(), true})
                                      : render_tabs(rows));
  return code(Exit::ok);
}

}  // namespace errand::cli
