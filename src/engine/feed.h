// Feeds: what streams read. A feed keeps the newest frames of one task (or of the whole store) in memory; a reader is a
// cursor, not a buffer. A reader that is further behind than the tail reads the store until it has caught up.
//
// A frame is made once and shared by all readers. Engine thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace errand {

struct Frame {
  int64_t seq = 0;  // In its task.
  int64_t pos = 0;  // Store-wide.
  TaskId task_id;
  EventType type = EventType::task_status;
  bool gone = false;               // A task that was removed (no event: seq is 0).
  std::optional<TaskState> state;  // That it tells (event_state.h).
  // "event: TYPE\ndata: {...}\n\n"; the "id:" line before it is the stream's own business (seq or pos).
  std::string body;
};
using FramePtr = std::shared_ptr<const Frame>;

class FeedReader {
 public:
  virtual ~FeedReader() = default;
  // There is something after your cursor. Called inside publish: take it, or remember to.
  virtual void wake() = 0;
};

class Feed {
 public:
  // Frames kept: at most `bytes_max` of them by size of body.
  explicit Feed(size_t bytes_max = 256 * 1024) : bytes_max_(bytes_max) {}

  void publish(const FramePtr& frame);
  // Wakes the readers once, after the frames of one commit were published.
  void wake_readers();
  // Appends frames whose key (seq or pos, by `by_pos`) is after `after`, up to `bytes` of body (at least one).
  // False: the tail begins later than after + 1, read the store.
  bool read(int64_t after, bool by_pos, size_t bytes, std::vector<FramePtr>& out) const;
  // The key of the last frame ever published here; `start` before the first.
  int64_t last(bool by_pos) const { return by_pos ? last_pos_ : last_seq_; }
  void start_at(int64_t seq, int64_t pos);

  void add(FeedReader* reader) { readers_.insert(reader); }
  void remove(FeedReader* reader) { readers_.erase(reader); }
  bool read_by_anybody() const { return !readers_.empty(); }
  size_t reader_count() const { return readers_.size(); }

 private:
  size_t bytes_max_;
  size_t bytes_ = 0;
  std::deque<FramePtr> tail_;
  // All frames after these are in the tail.
  int64_t before_seq_ = 0, before_pos_ = 0;
  int64_t last_seq_ = 0, last_pos_ = 0;
  std::set<FeedReader*> readers_;
};

}  // namespace errand
