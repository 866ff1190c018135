// The [model] table of a settings file, written: errand setup keeps a model there. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "settings/settings.h"

namespace errand {

// The text of the file with api, base_url, key, key_env and model of [model] as given; those that are empty are left
// out. All else stays as it is, to the byte: other tables, comments, and the rest of that table (effort, headers,
// prices). invalid_argument where the text is no TOML; conflict, reason `by_hand`, where the table is written in a way
// that cannot be changed like this (`model = {...}`): its message has the lines to write.
Result<std::string> with_model_table(std::string_view text, const ModelSettings& model);

// Those of its fields that belong to one model and that with_model_table leaves: "context_tokens, input_usd"; empty
// where it has none of them.
std::string kept_of_model(std::string_view text);

}  // namespace errand
