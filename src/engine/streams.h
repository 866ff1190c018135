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

// Hears of stored events, without a feed: no frame is made for it, and no task counts as read because of it.
class EventListener {
 public:
  virtual ~EventListener() = default;
  // Each event once it is durable, in the order of the store, with its pos. Called in the middle of the engine's work:
  // take a note and return.
  virtual void stored(const Event& event) = 0;
};

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
  // Of every task, from now on; one at most, null: nobody. It outlives the engine or is taken back.
  virtual void listen(EventListener* listener) = 0;
  // Frames of stored events, with the text of `output` put in. Any thread; blocking: it reads logs.
  virtual std::vector<FramePtr> frames(const std::vector<Event>& events) const = 0;
  // Any thread.
  virtual FramePtr gone_frame(const Tombstone& gone) const = 0;
};

}  // namespace errand
