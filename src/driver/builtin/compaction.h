// Compaction: a conversation that nears what the model takes is shortened to a summary of its older part and the newest
// messages as they are. Pure; the loop asks the model for the summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "task/message.h"

namespace errand::builtin {

// Tokens of a text, a conversation or a message, as fork/tokens.h counts them.
int64_t estimate(std::string_view text);
int64_t estimate(const std::vector<model::Entry>& conversation);
int64_t estimate(const Message& message);

// What a conversation may have before it is compacted: room for the answer and for the next results is left.
int64_t compact_above(int64_t context_tokens, int64_t output_tokens);

struct Cut {
  size_t first = 0;  // The first message that the summary is made from (behind the last compaction, or what it kept).
  size_t kept = 0;   // The first message that stays as it is; messages.size(): none does.
};
// The newest messages of at most `keep_tokens` stay. Nothing can be shortened where kept == first.
Cut choose_cut(const std::vector<Message>& messages, int64_t keep_tokens);

// The request for the summary of messages [first, kept), as a text of at most `tokens_max` (its oldest part is left out
// where it is longer, and long results are cut). `earlier` is the last compaction's own summary.
model::Request summary_request(const std::vector<Message>& messages, const Cut& cut, int64_t tokens_max);

// The system message that takes the place of what was summed up.
std::vector<Part> compaction_parts(std::string summary, const std::vector<Message>& messages, const Cut& cut);

}  // namespace errand::builtin
