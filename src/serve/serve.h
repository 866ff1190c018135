// The programs of errand that are not clients (the server, the supervisor, and what asks git for the server), and what
// the command line needs of their parts.
#pragma once

#include <string>

#include "base/result.h"
#include "settings/model_trial.h"
#include "settings/read.h"

namespace errand::serve {

// Runs the server of a data folder until it is told to stop. Returns the exit code: 0, or 1 where it could not start;
// the reason is on standard error by then, as JSON where `json` is true. It changes the process for good: call it once,
// from main, before there are threads.
int run_server(const SettingsSources& sources, bool json);

// Runs the supervisor until it has nothing left to do. The server starts it; people need not.
int run_supervisor(const std::string& data_dir);

// Carries out one order about what a task changed (changes/orders.h) and prints the answer. The server has it started.
int run_changes_order(const std::string& order);

// The tools' descriptions as a JSON array, in the names of a family.
std::string tools_json(std::string_view family);

// One real question to a model before its settings are kept, as `errand setup` asks it; no server is needed. Asks for
// one word, with these settings and nothing of the environment but proxies and certificates. Blocks until it has
// answered, for a minute and a half at most. Errors say what to do; no key is in them.
Result<ModelTrial> try_model(const ModelSettings& settings);

}  // namespace errand::serve
