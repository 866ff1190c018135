// The verbs that are not clients: main.cc hands them in, the command line only calls them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "settings/model_trial.h"
#include "settings/read.h"

namespace errand::cli {

struct ServeArgs {
  SettingsSources sources;
  bool json = false;  // The line that tells that it is ready, and why it is not, as JSON.
};

struct SupervisorArgs {
  std::string data_dir;  // Absolute.
};

// What errand is beside a client. All are set.
struct Programs {
  int (*serve)(const SettingsSources& sources, bool json) = nullptr;  // Returns the exit code.
  int (*supervisor)(const std::string& data_dir) = nullptr;           // Returns the exit code.
  // The tools' descriptions as a JSON array, in the names of a family.
  std::string (*tools_json)(std::string_view family) = nullptr;
  // Asks the model one question; blocks until it has answered.
  Result<ModelTrial> (*try_model)(const ModelSettings& settings) = nullptr;
};

}  // namespace errand::cli
