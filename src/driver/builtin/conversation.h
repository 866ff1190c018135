// A task's stored messages as the conversation that a model is given. Pure.
//
// What a provider insists on holds for whatever was stored, cut by a crash or copied from elsewhere: it begins with the
// user, every call has exactly one result, which follows at once, and no result is without its call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "task/message.h"

namespace errand::builtin {

// Names of notice parts that the loop puts into system messages.
inline constexpr std::string_view compaction_name = "compaction";  // A summary in the place of what was before.
inline constexpr std::string_view nudge_name = "nudge";            // The last answer was empty.
inline constexpr std::string_view retry_name = "retry";            // A failed or cancelled turn is tried again.
inline constexpr std::string_view continue_name = "continue";      // The last answer was cut at the output limit.

// The messages in the order in which the agent saw them. They are stored in the order in which they came: a user's
// message that was taken only after an answer had begun belongs behind that answer. Those that were never taken are
// left out.
std::vector<Message> in_order_of_taking(std::vector<Message> messages);

// What the model gets of `messages` (in the order of taking): from the last compaction on, its summary first.
std::vector<model::Entry> conversation(const std::vector<Message>& messages);

// One message as the blocks of a user's entry: texts, notices, files (images as such, texts as text, others named).
std::vector<model::Block> user_blocks(const Message& message);

// The calls of a message that have no result in any of `messages`, in order.
std::vector<Part> calls_without_result(const Message& message, const std::vector<Message>& messages);

// Is it one of the loop's own notes? Null where not: its notice part.
const Part* loop_note(const Message& message, std::string_view name);

// A compaction's mark: which message the kept ones begin with, and how many they are. It is the `opaque` of the notice.
std::string kept_mark(const MessageId& first_kept, size_t count);
// The first message that the compaction messages[at] kept; at + 1 where it kept none. In a copy of the conversation,
// whose ids are others, the number says it.
size_t first_kept(const std::vector<Message>& messages, size_t at);

// A result for a call of which nobody knows how it ended.
inline constexpr std::string_view unknown_end =
    "Interrupted: this call was cut short (the server or the task was stopped). It may have had effects, or none, and "
    "was "
    "not run again. Look at what is there before you repeat it.";

}  // namespace errand::builtin
