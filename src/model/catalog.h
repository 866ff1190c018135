// What is known of models: their limits and prices. A small table, looked up by the beginnings of names; settings
// override it. Unknown models get careful values: 128k of context, no prices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace errand::model {

struct ModelInfo {
  int64_t context_tokens = 128'000;
  int64_t output_tokens = 8'192;
  // US dollars a million tokens; all 0: not known, unless `set`.
  double input_usd = 0, output_usd = 0, cache_read_usd = 0, cache_write_usd = 0;
  bool known = false;
  bool set = false;  // The prices are an option's: 0 means free.

  bool priced() const { return set || input_usd > 0 || output_usd > 0; }

  bool operator==(const ModelInfo&) const = default;
};

// `model` as users and gateways write it: "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "gpt-5-mini".
ModelInfo model_info(std::string_view model);

// `info` with what `options` (an agent's) sets: context_tokens, output_tokens, input_usd, output_usd, cache_read_usd,
// cache_write_usd. A value that is no number is an error that names it.
Result<ModelInfo> with_options(ModelInfo info, const std::map<std::string, std::string>& options);

// When the prices of the table were last looked up: stored with every cost that comes from it.
inline constexpr std::string_view prices_date = "2026-11-15";

struct TokenUse;
double cost_usd(const ModelInfo& info, const TokenUse& use);

}  // namespace errand::model
