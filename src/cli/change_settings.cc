// errand settings: the server's settings, shown and changed.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"
#include "settings/table.h"

namespace errand::cli {

int settings(Context& context, const SettingsArgs& args) {
  const Screen& screen = context.screen;
  std::vector<std::string> named;  // As the API calls them.
  std::string change;
  JsonOut out(change);
  out.object();
  for (const std::string& one : args.changes) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0)
      return screen.fail(
          {Code::invalid_argument, fmt::format("\"{}\" is not NAME=VALUE, such as max_concurrent=5.", one), {}});
    const std::string value = one.substr(equals + 1);
    const std::string name = one.substr(0, equals);
    const Setting* const setting = find_setting(name);
    named.push_back(setting ? setting->wire : name);
    out.key(named.back());
    // A number, true or false as such; anything else is a text.
    if (!value.empty() && check_json(value) && value.front() != '"') {
      out.raw(value);
    } else {
      out.value(value);
    }
  }
  out.end();
  Result<std::string> body = args.changes.empty() ? context.client.get("/api/settings")
                                                  : context.client.call("PATCH", "/api/settings", change);
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<std::vector<std::pair<std::string, std::string>>> fields = parse_fields(*body);
  if (!fields) return screen.fail(fields.error());
  std::vector<std::vector<Cell>> rows;
  for (const auto& [name, value] : *fields) {
    if (!named.empty() && std::ranges::find(named, name) == named.end()) continue;
    const Setting* const setting = find_setting(name);
    rows.push_back({{setting ? std::string(setting->name) : name, "1"}, {value, ""}});
  }
  screen.out(screen.out_is_terminal()
                 ? render_table({{"SETTING"}, {"VALUE", 10}}, rows, {screen.width(), screen.colours(), true})
                 : render_tabs(rows));
  return code(Exit::ok);
}

}  // namespace errand::cli
