// Which tasks' changes a client wants to hear of, and which of them changed. Engine thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "engine/streams.h"

namespace errand::mcp {

inline constexpr size_t watched_max = 100;  // Tasks of one client.

class Watching {
 public:
  // `wake` is called inside the engine's own work when something changed: remember it, and take() later.
  Watching(Streams& streams, std::function<void()> wake) : streams_(streams), wake_(std::move(wake)) {}

  // These and no others; of too many, the first.
  void keep(const std::set<TaskId>& ids);
  // Those that changed since the last time.
  std::vector<TaskId> take();

 private:
  struct Reader final : FeedReader {
    Reader(Watching& all, TaskId task) : owner(all), id(std::move(task)), feed(owner.streams_.feed(id)) {
      feed->add(this);
    }
    ~Reader() override { feed->remove(this); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    void wake() override {
      owner.changed_.insert(id);
      owner.wake_();
    }
    Watching& owner;
    const TaskId id;
    const std::shared_ptr<Feed> feed;
  };

  Streams& streams_;
  const std::function<void()> wake_;
  std::map<TaskId, std::unique_ptr<Reader>> readers_;
  std::set<TaskId> changed_;
};

}  // namespace errand::mcp
