// Conversations that another program keeps, and that are no task's: a person's session in OpenCode. A driver that can
// read them is one of these beside being a Driver; the engine asks where a fork has such a parent (R6.1).
#pragma once

#include <functional>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "task/message.h"

namespace errand {

class Conversations {
 public:
  virtual ~Conversations() = default;
  // Whether this is a session of its program. Without waiting for anybody.
  virtual bool has(const SessionId& session) const = 0;
  // Its own driver copies them by itself, where a fork of one runs in it: then they are not read for it.
  virtual bool copies() const { return true; }
  // All of it, oldest first, with the program's own ids. Later, on the engine's thread, once; never after the driver is
  // destroyed.
  using Read = std::move_only_function<void(Result<std::vector<Message>>)>;
  virtual void read(const SessionId& session, Read done) = 0;
};

}  // namespace errand
