// The settings of a server as its parts take them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/builtin/model_choice.h"
#include "driver/builtin/tools/tool_set.h"
#include "engine/engine.h"
#include "net/routes/routes.h"
#include "notify/notifier.h"
#include "process/client.h"
#include "settings/settings.h"

namespace errand::serve {

// With the folder that a launch without one works in: the first of work_dirs, else the home folder.
EngineSettings engine_settings(const Settings& settings);
std::vector<builtin::ModelSetup> model_setups(const Settings& settings);
std::map<std::string, builtin::McpServer> mcp_servers(const Settings& settings);
// Where people reach the page, without a slash at its end. `url`: the server's own address.
std::string page_url(const Settings& settings, const std::string& url);
// The names of this server beside localhost: allow_hosts, and the one in notify.page_url.
std::vector<std::string> own_hosts(const Settings& settings);
// `base` with what the settings say. `url`: the server's own address.
notify::NotifierParts notifier_parts(const Settings& settings, const std::string& url, notify::NotifierParts base);
// By which means each limit of a command holds here.
net::Means means_of(const process::Abilities& can);

}  // namespace errand::serve
