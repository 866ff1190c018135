// What makes a copy of a session a fork (R6.2 to R6.5): which of its messages and parts go or are changed. OpenCode
// copies the whole session, under new ids; the rules are fork::prepare's. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "driver/opencode/wire.h"
#include "fork/fork.h"
#include "task/message.h"

namespace errand::opencode {

// A message of OpenCode's as one of ours: texts, reasoning, files, calls with their results. One that has nothing of
// these has an empty text, so that it stays where it is.
Message as_message(const MessageSeen& seen);

// One change of the copy.
struct Edit {
  std::string method;  // PATCH or DELETE,
  std::string path;    // below /session/{id}/message/,
  std::string body;    // and the whole part, for PATCH.
  bool operator==(const Edit&) const = default;
};

struct ForkPlan {
  std::vector<Edit> edits;
  std::string preamble;
  std::string agent, model;  // With which the parent worked last: "provider/model". Empty: not known.
  int64_t messages_kept = 0;
};

// What launched the fork, by which its call is found: in a message with several, and whether or not it has a result by
// now.
struct Launched {
  TaskId task;
  std::string_view prompt;
};

// `copy` is the copied session, of which the first `keep` messages are the parent's up to and with the one that
// launched the fork; the others came later and go.
Result<ForkPlan> plan_fork(const std::vector<MessageSeen>& copy, size_t keep, const Launched& launched,
                           const fork::Limits& limits);

}  // namespace errand::opencode
