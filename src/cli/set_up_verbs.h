// The options of the verbs that set errand up: its server, its settings and agents, and what it installs. Each is a
// Setup of the verb table.
#pragma once

#include "cli/verb_table.h"

namespace errand::cli {

Made agents_setup(CLI::App& app, Globals& globals);
Made settings_setup(CLI::App& app, Globals& globals);
Made open_setup(CLI::App& app, Globals& globals);
Made phone_setup(CLI::App& app, Globals& globals);
Made device_setup(CLI::App& app, Globals& globals);
Made opencode_setup(CLI::App& app, Globals& globals);
Made agent_install_setup(CLI::App& app, Globals& globals);
Made hook_setup(CLI::App& app, Globals& globals);
Made completion_setup(CLI::App& app, Globals& globals);
Made setup_setup(CLI::App& app, Globals& globals);
Made install_setup(CLI::App& app, Globals& globals);
Made upgrade_setup(CLI::App& app, Globals& globals);
Made serve_setup(CLI::App& app, Globals& globals);
Made supervisor_setup(CLI::App& app, Globals& globals);

}  // namespace errand::cli
