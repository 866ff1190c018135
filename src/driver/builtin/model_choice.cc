#include "driver/builtin/model_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace errand::builtin {
namespace {

constexpr std::string_view anthropic_url = "https://api.anthropic.com";
constexpr std::string_view openai_url = "https://api.openai.com/v1";

std::string value_of(const StringMap& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// The environment without the other provider's variables, so that both can be had by name.
std::optional<model::Endpoint> endpoint_of(const StringMap& environment, std::string_view prefix) {
  StringMap own;
  for (const auto& [name, value] : environment)
    if (name.starts_with(prefix)) own.emplace(name, value);
  return model::endpoint_from_environment(own);
}

std::string model_from_environment(const model::Endpoint& endpoint, const StringMap& environment) {
  for (const char* name : {"ERRAND_MODEL", endpoint.api == model::Api::anthropic ? "ANTHROPIC_MODEL" : "OPENAI_MODEL"})
    if (std::string model = value_of(environment, name); !model.empty()) return model;
  return std::string(model::default_model(endpoint));
}

Result<ModelChoice> from_setup(const ModelSetup& setup, const StringMap& environment) {
  const std::string where = setup.name.empty() ? "model" : "models." + setup.name;
  ModelChoice choice;
  choice.endpoint.base_url = setup.base_url;
  choice.endpoint.headers = setup.headers;
  if (!setup.api.empty()) {
    const std::optional<model::Api> api = model::parse_api(setup.api);
    if (!api)
      return fail(Code::invalid_argument,
                  fmt::format("{}.api must be anthropic, openai_chat or openai_responses.", where));
    choice.endpoint.api = *api;
  } else if (setup.base_url.empty()) {
    return fail(Code::invalid_argument, fmt::format("{} must have a base_url, an api, or both.", where));
  } else {
    choice.endpoint.api = setup.base_url.find("anthropic") != std::string::npos  ? model::Api::anthropic
                          : setup.base_url.starts_with("https://api.openai.com") ? model::Api::openai_responses
                                                                                 : model::Api::openai_chat;
  }
  if (setup.base_url.empty())
    choice.endpoint.base_url = choice.endpoint.api == model::Api::anthropic ? anthropic_url : openai_url;
  if (!choice.endpoint.base_url.starts_with("http://") && !choice.endpoint.base_url.starts_with("https://"))
    return fail(Code::invalid_argument, fmt::format("{}.base_url must begin with http:// or https://.", where));
  choice.endpoint.key = setup.key;
  choice.model = setup.model.empty() ? std::string(model::default_model(choice.endpoint)) : setup.model;
  choice.effort = setup.effort;
  choice.options = setup.options;
  if (const Result<model::ModelInfo> info = model::with_options({}, setup.options); !info)
    return fail(info.error().code, fmt::format("{}: {}", where, info.error().message));
  if (choice.endpoint.key.empty() && !setup.key_env.empty()) choice.endpoint.key = value_of(environment, setup.key_env);
  return choice;
}

}  // namespace

Result<ModelDirectory> ModelDirectory::make(std::vector<ModelSetup> setups, StringMap environment) {
  ModelDirectory out;
  out.environment_ = environment;
  for (const auto& [name, prefix] : {std::pair{"anthropic", "ANTHROPIC_"}, std::pair{"openai", "OPENAI_"}})
    if (std::optional<model::Endpoint> endpoint = endpoint_of(environment, prefix)) {
      ModelChoice choice{.endpoint = std::move(*endpoint)};
      choice.model = model_from_environment(choice.endpoint, environment);
      out.setups_.insert_or_assign(name, std::move(choice));
    }
  if (std::optional<model::Endpoint> endpoint = model::endpoint_from_environment(environment)) {
    ModelChoice choice{.endpoint = std::move(*endpoint)};
    choice.model = model_from_environment(choice.endpoint, environment);
    out.setups_.insert_or_assign("", std::move(choice));
  }
  for (const ModelSetup& setup : setups) {
    Result<ModelChoice> choice = from_setup(setup, environment);
    if (!choice) return std::unexpected(choice.error());
    if (!setup.key_env.empty() && choice->endpoint.key.empty()) {
      out.broken_[setup.name] =
          fmt::format("The setting {}.key_env names {}, which is not set in the server's environment.",
                      setup.name.empty() ? "model" : "models." + setup.name, setup.key_env);
      out.setups_.erase(setup.name);
      continue;
    }
    out.setups_.insert_or_assign(setup.name, std::move(*choice));
  }
  // Where no default is named, the first of the settings is one.
  if (!out.setups_.contains("") && !out.broken_.contains(""))
    for (const ModelSetup& setup : setups)
      if (const ModelChoice* choice = out.find(setup.name)) {
        out.setups_.emplace("", ModelChoice(*choice));
        break;
      }
  return out;
}

const ModelChoice* ModelDirectory::find(std::string_view name) const {
  const auto found = setups_.find(name);
  return found == setups_.end() ? nullptr : &found->second;
}

std::string ModelDirectory::unavailable() const {
  if (find("") != nullptr) return {};
  if (!broken_.empty()) return broken_.begin()->second + " Set it and start the server again.";
  return "No model is configured: type `errand setup`. Or set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL "
         "(for a "
         "local server), or write [model] with its base_url into errand.toml, and start the server again.";
}

Result<ModelChoice> ModelDirectory::named(ModelChoice choice, std::string model) {
  choice.model = std::move(model);
  Result<model::ModelInfo> info = model::with_options(model::model_info(choice.model), choice.options);
  if (!info) return std::unexpected(info.error());
  choice.info = *info;
  return choice;
}

Result<ModelChoice> ModelDirectory::choose(std::string_view wanted) const {
  const ModelChoice* const main = find("");
  if (wanted.empty()) {
    if (main == nullptr) return fail(Code::unavailable, unavailable(), "no_model");
    return named(*main, main->model);
  }
  if (const ModelChoice* setup = find(wanted)) return named(*setup, setup->model);
  if (const auto why = broken_.find(wanted); why != broken_.end())
    return fail(Code::unavailable, why->second, "no_model");
  if (const size_t slash = wanted.find('/'); slash != std::string_view::npos && slash > 0)
    if (const ModelChoice* setup = find(wanted.substr(0, slash)))
      return named(*setup, std::string(wanted.substr(slash + 1)));
  if (main == nullptr) return fail(Code::unavailable, unavailable(), "no_model");
  return named(*main, std::string(wanted));
}

Result<ModelChoice> ModelDirectory::choose(const Launch& launch, const Agent& agent) const {
  const auto option = [&](const char* name) { return value_of(agent.options, name); };
  const std::string& wanted = launch.model.empty() ? agent.model : launch.model;
  Result<ModelChoice> choice = fail(Code::internal, "");
  if (option("base_url").empty() && option("api").empty()) {
    choice = choose(wanted);
  } else {
    choice = from_setup({.name = agent.id,
                         .api = option("api"),
                         .base_url = option("base_url"),
                         .key_env = option("key_env"),
                         .model = wanted},
                        environment_);
    if (!choice) choice.error().message = "The agent's options: " + choice.error().message;
  }
  if (!choice) return choice;
  for (const auto& [name, value] : agent.options) {
    if (name == "effort") {
      choice->effort = value;
    } else if (name != "base_url" && name != "api" && name != "key_env") {
      choice->options[name] = value;
    }
  }
  return named(*choice, choice->model);
}

Result<std::vector<ModelDirectory::Place>> ModelDirectory::places(const Agent& agent) const {
  if (!value_of(agent.options, "base_url").empty() || !value_of(agent.options, "api").empty()) {
    Result<ModelChoice> own = choose(Launch(), agent);
    if (!own) return std::unexpected(own.error());
    return std::vector<Place>{{.prefix = {}, .endpoint = std::move(own->endpoint)}};
  }
  std::vector<Place> all;
  // The default stands first: its name is "". Another name of the same place would list it twice.
  for (const auto& [name, choice] : setups_)
    if (std::ranges::none_of(all, [&at = choice.endpoint](const Place& place) {
          return place.endpoint.base_url == at.base_url && place.endpoint.key == at.key;
        }))
      all.push_back({.prefix = name.empty() ? "" : name + "/", .endpoint = choice.endpoint});
  if (all.empty()) return fail(Code::unavailable, unavailable(), "no_model");
  return all;
}

}  // namespace errand::builtin
