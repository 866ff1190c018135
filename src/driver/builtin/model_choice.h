// Which model a task gets: from the settings, the environment, the agent and the launch. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "task/agent.h"
#include "task/task.h"

namespace errand::builtin {

// One [models.NAME] of the settings; [model] is the one without a name.
struct ModelSetup {
  std::string name;
  std::string api;       // "anthropic", "openai_chat", "openai_responses"; empty: by the address.
  std::string base_url;  // Empty: the provider's own.
  std::string key;       // Or:
  std::string key_env;   // The variable that has it.
  std::string model;
  std::string effort;
  StringMap headers;
  StringMap options;  // As model::with_options reads them: context_tokens, output_tokens, prices.
};

struct ModelChoice {
  model::Endpoint endpoint;
  std::string model;      // Empty: not said; the endpoint's first one is asked for.
  model::ModelInfo info;  // Where `model` is known.
  std::string effort;
  StringMap options;
};

class ModelDirectory {
 public:
  // An error names the setting that is wrong.
  static Result<ModelDirectory> make(std::vector<ModelSetup> setups, StringMap environment);

  // Empty: a model is there. Else what to set, as sentences.
  std::string unavailable() const;
  // What `wanted` means: the name of a setup ("local"), one with a model ("local/qwen3"), or a model of the default
  // one. Empty: the default.
  Result<ModelChoice> choose(std::string_view wanted) const;
  // Of a task: the launch's model, else the agent's, with the agent's own options over it: effort, limits and prices;
  // and base_url, api and key_env, with which it has an endpoint of its own.
  Result<ModelChoice> choose(const Launch& launch, const Agent& agent) const;
  // Where the models are that a launch of this agent can name, each with what stands before the model's own name in
  // `model`: "" for the default, "local/" for a setup. An agent with an endpoint of its own has only that one.
  struct Place {
    std::string prefix;
    model::Endpoint endpoint;
  };
  Result<std::vector<Place>> places(const Agent& agent) const;
  // The choice with its model named, limits and prices looked up.
  static Result<ModelChoice> named(ModelChoice choice, std::string model);

 private:
  ModelDirectory() = default;
  const ModelChoice* find(std::string_view name) const;

  std::map<std::string, ModelChoice, std::less<>> setups_;  // By name; "" is the default.
  std::map<std::string, std::string, std::less<>> broken_;  // Why a setup cannot be used.
  StringMap environment_;
};

}  // namespace errand::builtin
