// The engine's face for whoever shows events as they come: feeds (feed.h) and the frames that they carry.
//
// Engine thread only, but where it says otherwise. All answer at once.
#pragma once

#include <memory>
#include <vector>

#include "base/id.h"
#include "engine/feed.h"
#include "store/store.h"
#include "task/event.h"

namespace errand {

class Streams {
 public:
  virtual ~Streams() = default;

  // The feed of a task while somebody holds it; made where there is none. Of a task that is at rest it has no tail:
  // read the store.
  virtual std::shared_ptr<Feed> feed(const TaskId& id) = 0;
  // The whole store's.
  virtual std::shared_ptr<Feed> all() = 0;
  // The feed of a session's notices has no frames: its readers are woken when there may be one, or the session ended.
  virtual std::shared_ptr<Feed> session_feed(const SessionId& id) = 0;
  // Frames of stored events, with the text of `output` put in. Any thread; blocking: it reads logs.
  virtual std::vector<FramePtr> frames(const std::vector<Event>& events) const = 0;
  // Any thread.
  virtual FramePtr gone_frame(const Tombstone& gone) const = 0;
};

}  // namespace errand
