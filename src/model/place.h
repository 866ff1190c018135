// Where a provider is, and what its names say about it.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace errand::model {

// The address of `path` ("messages") at this endpoint. `/v1` is added where the base has no path that says otherwise.
std::string api_url(const Endpoint& endpoint, std::string_view path);
// "api.openai.com"; empty where the base is no address.
std::string host_of(std::string_view url);
bool is_openai(const Endpoint& endpoint);
bool is_openrouter(const Endpoint& endpoint);
// OpenAI's models that reason: o3, gpt-5 and newer. Others refuse a request with an effort.
bool reasons(std::string_view openai_model);

}  // namespace errand::model
