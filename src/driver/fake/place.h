// Where a scripted turn stands: all that its checkpoint holds, so that a turn taken up again goes on exactly behind the
// last report that was stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/task.h"

namespace errand::fake {

struct Place {
  std::vector<std::string> prompt;  // Ids of the messages that began the turn: the script is made from them again.
  int64_t step = 0;
  int64_t sub = 0;  // Inside the step: bytes said, times repeated; 1 for a tool called and a question asked.
  int part = 0;     // Of the open message: where the next text or call goes.
  bool open = false;
  int64_t said = -1;  // The step that spoke last (no reasoning): its text is the result.
  int asks = 0;       // Questions asked so far; numbers their ids.
  StringMap answers;
  bool operator==(const Place&) const = default;
};

std::string encode_place(const Place& place);
// A checkpoint comes back from the store; one that does not parse is answered, never trusted.
Result<Place> decode_place(std::string_view text);

}  // namespace errand::fake
