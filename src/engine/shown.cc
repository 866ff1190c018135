// What is shown without being decided: moments, health, feeds and frames.
#include <algorithm>

#include "base/text.h"
#include "engine/engine_impl.h"
#include "engine/frame.h"
#include "engine/output_text.h"
#include "task/json_in.h"

namespace errand {
namespace {
constexpr size_t feeds_min = 256;
}  // namespace

TaskMoment EngineImpl::moment(const Task& task) const {
  TaskMoment moment{.now = parts_.clock.wall()};
  if (task.phase == TurnPhase::queued) moment.queue_position = slots_.position(task.id);
  return moment;
}

Health EngineImpl::health() const {
  Health health;
  health.running = slots_.running();
  health.queued = slots_.queued();
  for (const auto& [id, live] : lives_) health.working += live->task && live->task->phase == TurnPhase::working;
  health.inbox = std::max<int64_t>(under_way_ + static_cast<int64_t>(staged_.size()), backlog_->inputs);
  health.inbox_bytes = backlog_->bytes;
  health.streams = static_cast<int64_t>(all_->reader_count());
  for (const auto& [id, feed] : feeds_)
    if (const auto held = feed.lock()) health.streams += static_cast<int64_t>(held->reader_count());
  health.feeds = std::ssize(feeds_) + std::ssize(session_feeds_);
  health.commits = commits_;
  health.events = events_;
  health.recovering = recovering_;
  health.draining = draining_;
  return health;
}

// Each time there are twice as many as the last time: so it costs little for each, and what nobody holds is never more
// than what somebody does (or a few).
void EngineImpl::drop_unheld_feeds() {
  if (feeds_.size() + session_feeds_.size() < feeds_looked_at_) return;
  const auto unheld = [](const auto& entry) { return entry.second.expired(); };
  std::erase_if(feeds_, unheld);
  std::erase_if(session_feeds_, unheld);
  feeds_looked_at_ = std::max(feeds_min, 2 * (feeds_.size() + session_feeds_.size()));
}

std::shared_ptr<Feed> EngineImpl::feed(const TaskId& id) {
  drop_unheld_feeds();
  std::weak_ptr<Feed>& known = feeds_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    if (const LivePtr live = find_live(id); live && live->task) feed->start_at(live->task->last_seq, 0);
    known = feed;
  }
  return feed;
}

std::shared_ptr<Feed> EngineImpl::session_feed(const SessionId& id) {
  drop_unheld_feeds();
  std::weak_ptr<Feed>& known = session_feeds_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    known = feed;
  }
  return feed;
}

std::vector<FramePtr> EngineImpl::frames(const std::vector<Event>& events) const {
  std::vector<FramePtr> out;
  out.reserve(events.size());
  for (const Event& event : events) {
    std::string text;
    if (event.type == EventType::output) {
      // Only commands print; their driver reads the log.
      const auto driver = parts_.drivers.find("command");
      const Result<OutputRange> range = decode_output(event.data);
      if (driver != parts_.drivers.end() && range) text = output_text(*driver->second, event.task_id, *range);
    }
    out.push_back(make_frame(event, text));
  }
  return out;
}

FramePtr EngineImpl::gone_frame(const Tombstone& gone) const { return make_gone_frame(gone); }

}  // namespace errand
