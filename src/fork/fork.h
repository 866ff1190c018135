// What a fork takes over of its parent's conversation (R6.2 to R6.5): the messages, cut to what a new conversation can
// carry, and a preamble that says so. Pure: no I/O, no clock, no ids made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/message.h"

namespace errand::fork {

// How tool results are cut.
//   plain: each to `tool_result_chars`.
//   tiered: by age. The newest 5 stay whole, the 10 before them have 3,000 characters, older ones 500; of what looks
//   like
//     a failure or comes from a shell, the end is kept too; answers of people are never cut, and what was cut when it
//     was made is left as it is. Begins with the latest summary of a compaction. Over 200,000 characters the oldest go.
enum class Profile : uint8_t { plain, tiered };
std::string_view name(Profile profile);
std::optional<Profile> parse_profile(std::string_view text);

struct Limits {
  int64_t tool_result_chars = 1'500;  // Characters, not bytes. Plain.
  int64_t tokens = 100'000;           // Of the messages and the preamble together, as estimate_tokens counts.
  Profile profile = Profile::plain;
  bool operator==(const Limits&) const = default;
};
// Below this a conversation is nothing.
inline constexpr int64_t tokens_min = 1'000;

struct Prepared {
  std::vector<Message> messages;  // In order, with the ids that they had.
  std::string preamble;           // For a system message before what the fork is asked.
  int64_t tokens = 0;             // Of messages and preamble.
  int64_t results_cut = 0;        // Tool results that were longer; each says how long it was.
  int64_t messages_dropped = 0;   // The oldest, that did not fit.
  int64_t parts_cut = 0;          // Of messages that were over the limit alone; and results whose call is gone.
};

// Everything up to and with `last` (empty: all). `settle_call`: the id of the tool call that launched the fork; it gets
// a result that says so, where it has none. Every other call without a result gets one that says that there is none. A
// call and its result go together. Names, arguments and ids of calls stay whole, unless a message does not fit in
// otherwise.
//
// `unread` messages stand before these, which nobody needed to read to know that they do not fit.
//
// Fails where `last` is not in the history, and where the limits make no sense.
Result<Prepared> prepare(std::vector<Message> history, const MessageId& last, const std::string& settle_call,
                         const Limits& limits, int64_t unread = 0);

}  // namespace errand::fork
