#include "net/routes/task_stream.h"

#include <algorithm>

#include "base/json_out.h"

namespace errand::net {
namespace {

constexpr int store_page = 256;
constexpr size_t held_max = 64;       // Pages remembered before those that nobody holds any more are forgotten.
constexpr size_t recent_max = 16;     // Pages kept for slower readers,
constexpr size_t readers_a_page = 8;  // one for so many readers.

TaskChannel::Page read_page(Store& store, const Streams& streams, const TaskId& task, int64_t after) {
  TaskChannel::Page page;
  const Result<std::vector<Event>> events = store.events_after(task, after, store_page);
  // Whatever the reason: the reader connects again, and is told then.
  page.gone = !events || (events->empty() && !store.get(task));
  if (page.gone || events->empty()) {
    page.last = true;
    return page;
  }
  // One at a time: the text of an `output` event is read from its log, and may be long.
  std::vector<FramePtr> frames;
  size_t bytes = 0;
  for (const Event& event : *events) {
    FramePtr frame = streams.frames({event}).front();
    bytes += frame->body.size();
    if (bytes > stored_bytes_max && !frames.empty()) break;
    frames.push_back(std::move(frame));
  }
  page.first = frames.front()->seq;
  page.last = frames.size() == events->size() && events->size() < store_page;
  page.chunk = make_chunk(frames, false);
  return page;
}

}  // namespace

std::optional<Chunk> TaskChannel::read(int64_t after, size_t bytes) {
  const int64_t pos = feed_->last(true);
  if (chunk_after_ == after && chunk_pos_ == pos && chunk_bytes_ == bytes) return chunk_;
  std::vector<FramePtr> frames;
  if (!feed_->read(after, false, bytes, frames)) return std::nullopt;
  if (frames.empty()) return Chunk{};
  chunk_after_ = after;
  chunk_pos_ = pos;
  chunk_bytes_ = bytes;
  chunk_ = make_chunk(frames, false);
  return chunk_;
}

std::optional<TaskChannel::Page> TaskChannel::held(int64_t after) const {
  const auto it = held_.find(after);
  if (it == held_.end()) return std::nullopt;
  Page page = it->second.page;
  page.chunk.text = it->second.text.lock();
  if (!page.chunk.text) return std::nullopt;
  return page;
}

void TaskChannel::fetch(const RouteParts& parts, const TaskId& task, int64_t after,
                        std::function<void(const Page&)> then) {
  std::vector<std::function<void(const Page&)>>& waiting = fetching_[after];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  // Only the loop may hold it: whoever lets go of it last destroys it, and that is the loop's business.
  parts.readers.post([here = weak_from_this(), &parts, task, after] {
    Page page = read_page(parts.store, parts.engine.streams(), task, after);
    parts.loop.post([here, after, page = std::move(page)] {
      if (const auto self = here.lock()) self->fetched(after, page);
    });
  });
}

void TaskChannel::fetched(int64_t after, const Page& page) {
  if (page.chunk.frames > 0) {
    if (held_.size() >= held_max) std::erase_if(held_, [](const auto& entry) { return entry.second.text.expired(); });
    Held& entry = held_[after];
    entry = {page, page.chunk.text};
    entry.page.chunk.text.reset();
    recent_.push_back(page.chunk.text);
    while (recent_.size() > std::min(recent_max, feed_->reader_count() / readers_a_page)) recent_.pop_front();
  }
  auto node = fetching_.extract(after);
  for (const auto& then : node.mapped()) then(page);
}

TaskStream::TaskStream(Context& context, std::shared_ptr<TaskChannel> channel, Start start)
    : EventStream(context.parts.heartbeats),
      context_(context),
      channel_(std::move(channel)),
      task_(std::move(start.task)),
      cursor_(start.after),
      ended_(start.at_rest),
      reset_due_(start.reset) {
  channel_->feed().add(this);
}

TaskStream::~TaskStream() { channel_->feed().remove(this); }

StreamSource::Pulled TaskStream::next(std::vector<Slice>& out, size_t bytes) {
  if (std::exchange(reset_due_, false)) {
    std::string data;
    JsonOut(data).object().field("task_id", task_).end();
    out.push_back(to_slice(unstored_event("reset", data, context_.parts.clock.wall())));
  }
  if (stored_) {
    send(*std::exchange(stored_, {}), out);
    return Pulled::some;
  }
  if (over_) return Pulled::end;
  if (reading_) return Pulled::none;
  if (!behind_) {
    if (const std::optional<Chunk> chunk = channel_->read(cursor_, bytes)) {
      if (chunk->frames == 0) return ended_ ? Pulled::end : Pulled::none;
      send(*chunk, out);
      return Pulled::some;
    }
    behind_ = true;  // Slower than the tail is long.
  }
  if (std::optional<TaskChannel::Page> page = channel_->held(cursor_)) {
    take(*std::move(page));
    return next(out, bytes);
  }
  read_store();
  return Pulled::none;
}

void TaskStream::send(const Chunk& chunk, std::vector<Slice>& out) {
  out.push_back(to_slice(chunk.text));
  if (chunk.last > 0) cursor_ = chunk.last;
  if (chunk.ended) ended_ = *chunk.ended;
  if (chunk.gone) over_ = true;
}

void TaskStream::take(TaskChannel::Page page) {
  over_ = page.gone;
  behind_ = !page.last;
  if (page.chunk.frames == 0) return;
  reset_due_ = reset_due_ || page.first > cursor_ + 1;
  stored_ = std::move(page.chunk);
}

void TaskStream::read_store() {
  reading_ = true;
  channel_->fetch(context_.parts, task_, cursor_, while_here([this](const TaskChannel::Page& page) {
                    reading_ = false;
                    take(page);
                    ready();
                  }));
}

}  // namespace errand::net
