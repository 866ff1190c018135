// The names of the enumerators, each spelled once.
#include <utility>

#include "model/model.h"

namespace errand::model {

std::string_view name(Api api) {
  switch (api) {
    case Api::anthropic:
      return "anthropic";
    case Api::openai_chat:
      return "openai_chat";
    case Api::openai_responses:
      return "openai_responses";
  }
  std::unreachable();
}

std::optional<Api> parse_api(std::string_view text) {
  for (const Api api : {Api::anthropic, Api::openai_chat, Api::openai_responses})
    if (name(api) == text) return api;
  return std::nullopt;
}

std::string_view name(Stop stop) {
  switch (stop) {
    case Stop::end:
      return "end";
    case Stop::tool_calls:
      return "tool_calls";
    case Stop::length:
      return "length";
    case Stop::refusal:
      return "refusal";
    case Stop::other:
      return "other";
  }
  std::unreachable();
}

std::string_view name(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::quota:
      return "quota";
    case Failure::Kind::overloaded:
      return "overloaded";
    case Failure::Kind::auth:
      return "auth";
    case Failure::Kind::context_too_long:
      return "context_too_long";
    case Failure::Kind::invalid:
      return "invalid";
    case Failure::Kind::network:
      return "network";
    case Failure::Kind::cut:
      return "cut";
  }
  std::unreachable();
}

}  // namespace errand::model
