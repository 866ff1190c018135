// What people type to answer a task that asks, as the API takes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/wire.h"

namespace errand::cli {

// Exactly one of the two is set.
struct ReplyWords {
  std::string decision;  // allow, allow_always or deny.
  std::string answer;
  std::string scope = {};    // With allow: pattern, task or agent; empty: this once.
  std::string pattern = {};  // With the scope pattern.
  bool operator==(const ReplyWords&) const = default;
};

// To a permission its words, short ones too (y, always, n), how far an allowance goes (pattern, task, agent), or the
// number of an option or pattern. To a question an option, its
// number, or any other text; where there are options, a number that none of them has is refused. `literally`: a number
// is a text like any other.
Result<ReplyWords> reply_words(const WaitingInfo& waiting, std::string_view typed, bool literally = false);

// The options with their numbers, "1 red"; empty where there are none.
std::vector<std::string> numbered_options(const WaitingInfo& waiting);

}  // namespace errand::cli
