// How many tokens a text is, about: for limits, where no provider has counted. Measured against the public tokenizers
// of OpenAI and Anthropic (tests/e2e/tokens.test.mjs): for prose in English and Chinese, code, JSON, logs, base64, hex,
// numbers and mixtures of them it is never less than the largest of their counts, and at most 30 % above it. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/message.h"

namespace errand {

int64_t estimate_tokens(std::string_view text);
// With what its role and its parts cost beside their texts.
int64_t estimate_tokens(const Part& part);
int64_t estimate_tokens(const Message& message);

// The estimate in the course of a text that is longer than one wants to read: it stops where it is over `limit`.
int64_t estimate_tokens_to(std::string_view text, int64_t limit);
// The longest beginning (end) of `text` whose estimate is at most `limit`, as a number of bytes, about; it splits no
// character.
size_t tokens_prefix(std::string_view text, int64_t limit);
size_t tokens_suffix(std::string_view text, int64_t limit);

}  // namespace errand
