#include "model/place.h"

#include <charconv>

#include "http/field.h"

namespace errand::model {
namespace {

// The address without its scheme: host, port and path.
std::string_view behind_scheme(std::string_view url) {
  const size_t scheme = url.find("://");
  return scheme == std::string_view::npos ? url : url.substr(scheme + 3);
}

bool is_host(std::string_view host, std::string_view of) {
  return host == of || (host.size() > of.size() && host.ends_with(of) && host[host.size() - of.size() - 1] == '.');
}

std::string get(const std::map<std::string, std::string>& environment, const char* name) {
  const auto it = environment.find(name);
  return it == environment.end() ? std::string() : it->second;
}

std::optional<Endpoint> anthropic_of(const std::map<std::string, std::string>& environment) {
  Endpoint endpoint{.api = Api::anthropic,
                    .base_url = get(environment, "ANTHROPIC_BASE_URL"),
                    .key = get(environment, "ANTHROPIC_API_KEY")};
  const std::string token = get(environment, "ANTHROPIC_AUTH_TOKEN");
  if (endpoint.key.empty() && !token.empty()) endpoint.headers["authorization"] = "Bearer " + token;
  if (endpoint.base_url.empty() && endpoint.key.empty() && token.empty()) return std::nullopt;
  if (endpoint.base_url.empty()) endpoint.base_url = "https://api.anthropic.com";
  return endpoint;
}

std::optional<Endpoint> openai_of(const std::map<std::string, std::string>& environment, std::optional<Api> api) {
  Endpoint endpoint{.base_url = get(environment, "OPENAI_BASE_URL"), .key = get(environment, "OPENAI_API_KEY")};
  if (endpoint.base_url.empty() && endpoint.key.empty()) return std::nullopt;
  if (endpoint.base_url.empty()) endpoint.base_url = "https://api.openai.com/v1";
  endpoint.api = api.value_or(is_openai(endpoint) ? Api::openai_responses : Api::openai_chat);
  return endpoint;
}

}  // namespace

std::string api_url(const Endpoint& endpoint, std::string_view path) {
  std::string url = endpoint.base_url;
  while (url.ends_with('/')) url.pop_back();
  const bool has_path = behind_scheme(url).contains('/');
  // Anthropic's base is without /v1, also behind a gateway's path; OpenAI's is with it, where there is a path at all.
  const bool versioned = endpoint.api == Api::anthropic ? url.ends_with("/v1") : has_path;
  if (!versioned) url += "/v1";
  url += '/';
  return url.append(path);
}

std::string host_of(std::string_view url) {
  std::string_view rest = behind_scheme(url);
  rest = rest.substr(0, rest.find('/'));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  if (!rest.starts_with('[')) rest = rest.substr(0, rest.find(':'));
  return http::lower(rest);
}

bool is_openai(const Endpoint& endpoint) { return is_host(host_of(endpoint.base_url), "openai.com"); }

bool is_openrouter(const Endpoint& endpoint) { return is_host(host_of(endpoint.base_url), "openrouter.ai"); }

bool reasons(std::string_view model) {
  if (const size_t slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
  if (model.contains("chat")) return false;
  if (model.size() >= 2 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9') return true;
  if (model.starts_with("codex")) return true;
  if (!model.starts_with("gpt-")) return false;
  int major = 0;
  std::from_chars(model.data() + 4, model.data() + model.size(), major);
  return major >= 5;
}

std::optional<Endpoint> endpoint_from_environment(const std::map<std::string, std::string>& environment) {
  const std::optional<Api> wanted = parse_api(get(environment, "ERRAND_MODEL_API"));
  if (!wanted || *wanted == Api::anthropic) {
    if (auto endpoint = anthropic_of(environment)) return endpoint;
    if (wanted) return std::nullopt;
  }
  return openai_of(environment, wanted);
}

std::string_view default_model(const Endpoint& endpoint) {
  if (endpoint.api == Api::anthropic) return "claude-sonnet-5-5";
  return endpoint.api == Api::openai_responses || is_openai(endpoint) ? "gpt-5.5" : "";
}

}  // namespace errand::model
