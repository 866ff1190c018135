// A task's own stream: its events from a cursor on, then live, then the end (R10.3, P5).
//
// Joining the two without gap or repeat: the stream listens to the feed before it reads the store. What is committed is
// in the store before it is published; so after the store had no more, whatever follows comes through the feed, and the
// feed is asked with the cursor, which drops what was already sent.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "net/routes/context.h"
#include "net/routes/event_stream.h"

namespace errand::net {

// What the streams of one task share: its feed, the last chunk that was made of it, and the pages of the store that
// some reader is still being given. A thousand readers at the same place are given the same bytes.
class TaskChannel : public std::enable_shared_from_this<TaskChannel> {
 public:
  // What one read of the store found.
  struct Page {
    Chunk chunk;
    int64_t first = 0;  // The seq of its first event; 0: it has none.
    bool last = false;  // There was nothing behind it.
    bool gone = false;  // The task is.
  };

  explicit TaskChannel(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  Feed& feed() { return *feed_; }
  // What follows `after`; a chunk without frames where that is nothing yet. Absent: it has to be read from the store.
  std::optional<Chunk> read(int64_t after, size_t bytes);
  // The page after `after` that another reader holds.
  std::optional<Page> held(int64_t after) const;
  // Reads the page after `after` from the store, once for all who ask for it meanwhile; `then` is called on the loop.
  void fetch(const RouteParts& parts, const TaskId& task, int64_t after, std::function<void(const Page&)> then);

 private:
  struct Held {
    Page page;  // Without its text,
    std::weak_ptr<const std::string> text;
  };
  void fetched(int64_t after, const Page& page);

  std::map<int64_t, Held> held_;
  // The newest pages, the more the more readers there are: those who are a little slower find them too.
  std::deque<std::shared_ptr<const std::string>> recent_;
  std::map<int64_t, std::vector<std::function<void(const Page&)>>> fetching_;

  std::shared_ptr<Feed> feed_;
  // What the chunk was made for: the place, its size, and how far the feed was then.
  int64_t chunk_after_ = -1, chunk_pos_ = 0;
  size_t chunk_bytes_ = 0;
  Chunk chunk_;
};

class TaskStream final : public EventStream, private FeedReader {
 public:
  struct Start {
    TaskId task;
    int64_t after = 0;
    bool at_rest = false;  // When the stream was asked for: nothing more comes, unless it says so.
    bool reset = false;    // The reader's cursor is none of this task's history.
  };
  TaskStream(Context& context, std::shared_ptr<TaskChannel> channel, Start start);
  ~TaskStream() override;

 private:
  Pulled next(std::vector<Slice>& out, size_t bytes) override;
  void wake() override { ready(); }
  void read_store();
  void take(TaskChannel::Page page);
  void send(const Chunk& chunk, std::vector<Slice>& out);

  Context& context_;
  std::shared_ptr<TaskChannel> channel_;
  TaskId task_;
  int64_t cursor_;
  bool ended_;
  bool behind_ = true;    // The store may have more after the cursor.
  bool reading_ = false;  // A read is under way.
  bool over_ = false;     // The task is gone.
  bool reset_due_ = false;
  std::optional<Chunk> stored_;  // Read and not yet sent.
};

}  // namespace errand::net
