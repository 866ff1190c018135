// The bodies of the three APIs, from a conversation that normalize() made.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace errand::model {

std::string encode_anthropic(const Request& request, const std::vector<Entry>& conversation);
std::string encode_chat(const Endpoint& endpoint, const Request& request, const std::vector<Entry>& conversation);
std::string encode_responses(const Request& request, const std::vector<Entry>& conversation);

}  // namespace errand::model
