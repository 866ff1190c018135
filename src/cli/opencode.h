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

// The file as it is to be, with the tools' descriptions in the names of the options' family. Needs no server.
Result<std::string> opencode_plugin(const std::string& data_dir, const PluginOptions& options,
                                    const std::string& tools_json);

// Whether a file is one of ours, of any version, and how it was made.
bool is_opencode_plugin(std::string_view text);
PluginOptions opencode_plugin_options(std::string_view text);

// The file of plugins/opencode as it is in the binary.
std::string_view opencode_plugin_source();

}  // namespace errand::cli
