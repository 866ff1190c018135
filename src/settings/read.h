// Where settings come from: flags, the environment (ERRAND_...), the settings file (TOML) and the defaults, in that
// order. Unknown names and wrong types are refused by name, so that a misspelt limit is not silently no limit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"

namespace errand {

struct SettingsSources {
  std::string data_dir;               // Absolute.
  std::optional<std::string> config;  // A TOML file; absent: data_dir/errand.toml, where there is one.
  // Flags of `errand serve`: the name of a setting and its text. A list is added to; anything else is replaced.
  std::vector<std::pair<std::string, std::string>> flags;
};

// `environment` is of the form of environ: names to values. Reads files; changes nothing.
Result<Settings> read_settings(const SettingsSources& sources, const std::map<std::string, std::string>& environment);

}  // namespace errand
