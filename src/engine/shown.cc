// What is shown without being decided: moments, health, feeds and frames.
#include <algorithm>

#include "engine/engine_impl.h"
#include "engine/frame.h"

namespace errand {

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
  health.streams = feeds_.readers();
  health.feeds = feeds_.size();
  health.commits = commits_;
  health.events = events_;
  health.recovering = recovering_;
  health.draining = draining_;
  return health;
}

std::shared_ptr<Feed> EngineImpl::feed(const TaskId& id) { return feeds_.of(id); }

std::shared_ptr<Feed> EngineImpl::session_feed(const SessionId& id) { return feeds_.of(id); }

std::vector<FramePtr> EngineImpl::frames(const std::vector<Event>& events) const { return feeds_.frames(events); }

FramePtr EngineImpl::gone_frame(const Tombstone& gone) const { return make_gone_frame(gone); }

}  // namespace errand
