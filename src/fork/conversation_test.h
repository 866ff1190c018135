// Any conversation, and what must hold of its fork: for the random test and the fuzzer.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "fork/fork.h"
#include "fork/tokens.h"

namespace errand::fork::test {

// A number below the bound.
using Choose = std::function<uint64_t(uint64_t)>;

inline std::string any_text(const Choose& choose) {
  static const std::vector<std::string> pieces = {
      "a",  "word ", "语", "é",      "\n",  "    ", "0123456789", "QmFz",
      "😀", "{}",    "\"", "======", "the", "\xff", "\xe8\xaf",   std::string(1, '\0')};
  const uint64_t length = choose(8) == 0 ? choose(6'000) : choose(40);
  std::string out;
  const std::string& same = pieces[choose(pieces.size())];
  const bool one = choose(2) == 0;
  for (uint64_t i = 0; i < length; ++i) out += one ? same : pieces[choose(pieces.size())];
  return out;
}

inline std::vector<Message> any_history(const Choose& choose) {
  std::vector<Message> history(choose(12));
  for (size_t i = 0; i < history.size(); ++i) {
    Message& message = history[i];
    message.id = MessageId("msg_" + std::to_string(i));
    message.role = static_cast<Role>(choose(3));
    message.parts.resize(choose(20) == 0 ? choose(300) : choose(5));
    for (Part& part : message.parts) {
      part.type = static_cast<PartType>(choose(6));
      part.text = any_text(choose);
      if (part.type == PartType::tool_call || part.type == PartType::tool_result)
        part.call_id = "call_" + std::to_string(choose(6));
      if (part.type == PartType::tool_call) {
        part.name = choose(10) == 0 ? any_text(choose) : "bash";
        part.input = any_text(choose);
        part.text.clear();
      }
      if (part.type == PartType::file) part.url = any_text(choose);
    }
  }
  return history;
}

inline void check_prepare(const Choose& choose) {
  const std::vector<Message> history = any_history(choose);
  const Limits limits{.tool_result_chars = static_cast<int64_t>(choose(2'000)),
                      .tokens = static_cast<int64_t>(tokens_min + choose(6'000)),
                      .profile = static_cast<Profile>(choose(2))};
  const MessageId last = history.empty() || choose(2) == 0 ? MessageId() : history[choose(history.size())].id;
  const Result<Prepared> out = prepare(history, last, "call_0", limits);
  ERRAND_CHECK(out.has_value(), "limits that make sense are taken");
  ERRAND_CHECK(out->tokens <= limits.tokens, "it fits");
  std::map<std::string, int> open;
  std::string before;
  for (const Message& message : out->messages) {
    ERRAND_CHECK(!message.parts.empty(), "no message without parts");
    const auto original = std::ranges::find(history, message.id, &Message::id);
    ERRAND_CHECK(original != history.end() && original->role == message.role, "messages are the parent's");
    for (const Part& part : message.parts) {
      if (part.type == PartType::tool_call) ++open[part.call_id];
      if (part.type != PartType::tool_result) continue;
      ERRAND_CHECK(open[part.call_id]-- > 0, "a result has its call before it");
      if (limits.profile == Profile::plain)
        ERRAND_CHECK(static_cast<int64_t>(count_characters(part.text)) <=
                         std::max<int64_t>(limits.tool_result_chars, 1'500) + 200,
                     "results are cut");
    }
  }
  for (const auto& [id, count] : open) ERRAND_CHECK(count == 0, "a call has its result");
  if (last && !out->messages.empty())
    ERRAND_CHECK(out->messages.back().id.value.size() < last.value.size() ||
                     (out->messages.back().id.value.size() == last.value.size() && out->messages.back().id <= last),
                 "nothing after the last one");
}

}  // namespace errand::fork::test
