#include "engine/feeds.h"

#include <algorithm>

#include "engine/frame.h"
#include "engine/output_text.h"
#include "task/json_in.h"

namespace errand {
namespace {
constexpr size_t feeds_min = 256;
}  // namespace

Feeds::Feeds(const Driver* printer, LastSeq last_seq, Skip skip)
    : printer_(printer), last_seq_(std::move(last_seq)), skip_(std::move(skip)) {}

// Each time there are twice as many as the last time: so it costs little for each, and what nobody holds is never more
// than what somebody does (or a few).
void Feeds::drop_unheld() {
  if (tasks_.size() + sessions_.size() < looked_at_) return;
  const auto unheld = [](const auto& entry) { return entry.second.expired(); };
  std::erase_if(tasks_, unheld);
  std::erase_if(sessions_, unheld);
  looked_at_ = std::max(feeds_min, 2 * (tasks_.size() + sessions_.size()));
}

std::shared_ptr<Feed> Feeds::feed(const TaskId& id) {
  drop_unheld();
  std::weak_ptr<Feed>& known = tasks_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    if (const int64_t last = last_seq_(id); last > 0) feed->start_at(last, 0);
    known = feed;
  }
  return feed;
}

std::shared_ptr<Feed> Feeds::session_feed(const SessionId& id) {
  drop_unheld();
  std::weak_ptr<Feed>& known = sessions_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    known = feed;
  }
  return feed;
}

std::shared_ptr<Feed> Feeds::held(const TaskId& id) {
  const auto known = tasks_.find(id);
  if (known == tasks_.end()) return nullptr;
  std::shared_ptr<Feed> feed = known->second.lock();
  if (!feed) tasks_.erase(known);
  return feed;
}

void Feeds::publish(const TaskId& id, std::vector<Event>& events, const std::map<size_t, std::string>& texts,
                    int64_t first_pos) {
  const std::shared_ptr<Feed> feed = held(id);
  if (events.empty()) return;
  const bool watched = all_->read_by_anybody();
  for (size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    event.pos = first_pos + static_cast<int64_t>(i);
    if (listener_ != nullptr) listener_->stored(event);
    if (!feed && !watched) continue;
    if (skip_ && skip_(event)) continue;
    const auto text = texts.find(i);
    const FramePtr frame = make_frame(event, text == texts.end() ? std::string_view() : text->second);
    if (feed) feed->publish(frame);
    if (watched) all_->publish(frame);
  }
  if (!watched) all_->start_at(0, events.back().pos);
  if (feed) feed->wake_readers();
}

void Feeds::publish_gone(const Tombstone& gone) {
  const FramePtr frame = make_gone_frame(gone);
  if (const std::shared_ptr<Feed> feed = held(gone.task_id)) {
    feed->publish(frame);
    feed->wake_readers();
  }
  if (all_->read_by_anybody())
    all_->publish(frame);
  else
    all_->start_at(0, gone.pos);
}

void Feeds::wake(const SessionId& id) {
  const auto known = sessions_.find(id);
  if (known == sessions_.end()) return;
  if (const std::shared_ptr<Feed> feed = known->second.lock())
    feed->wake_readers();
  else
    sessions_.erase(known);
}

bool Feeds::is_read(const TaskId& id) const {
  const auto known = tasks_.find(id);
  const std::shared_ptr<Feed> feed = known == tasks_.end() ? nullptr : known->second.lock();
  return (feed && feed->read_by_anybody()) || all_->read_by_anybody();
}

int64_t Feeds::readers() const {
  auto readers = static_cast<int64_t>(all_->reader_count());
  for (const auto& [id, known] : tasks_)
    if (const auto feed = known.lock()) readers += static_cast<int64_t>(feed->reader_count());
  return readers;
}

std::vector<FramePtr> Feeds::frames(const std::vector<Event>& events) const {
  std::vector<FramePtr> out;
  out.reserve(events.size());
  for (const Event& event : events) {
    std::string text;
    if (event.type == EventType::output && printer_ != nullptr)
      if (const Result<OutputRange> range = decode_output(event.data))
        text = output_text(*printer_, event.task_id, *range);
    out.push_back(make_frame(event, text));
  }
  return out;
}

FramePtr Feeds::gone_frame(const Tombstone& gone) const { return make_gone_frame(gone); }

}  // namespace errand
