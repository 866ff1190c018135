// OpenCode's plugin: the file of plugins/opencode with this machine's places and the tools' descriptions filled in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace errand::cli {

struct PluginOptions {
  std::string family = "background";  // Under which names the tools are offered.
  bool wake = false;                  // A notice makes the session's agent answer it.
};

// Where OpenCode looks for the user's own plugins: $XDG_CONFIG_HOME/opencode, else ~/.config/opencode.
Result<std::string> opencode_plugin_path();

// The file as it is to be. Needs no server.
Result<std::string> opencode_plugin(const std::string& data_dir, const PluginOptions& options);

// Whether a file is one of ours, of any version, and how it was made.
bool is_opencode_plugin(std::string_view text);
PluginOptions opencode_plugin_options(std::string_view text);

// The file of plugins/opencode as it is in the binary.
std::string_view opencode_plugin_source();
// The tools' descriptions as a JSON array, in the names of a family; main.cc has it, which knows the tools.
std::string tools_json(std::string_view family);

}  // namespace errand::cli
