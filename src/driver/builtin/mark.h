// The loop's checkpoint: the calls that have begun and whose result is not stored. Everything else that a turn needs to
// go on is in the conversation.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace errand::builtin {

struct Mark {
  std::set<std::string> begun;  // Call ids.
  bool operator==(const Mark&) const = default;
};

// decode(encode(x)) == x. A text that is none of ours is a mark of nothing.
std::string encode_mark(const Mark& mark);
Mark decode_mark(std::string_view text);

}  // namespace errand::builtin
