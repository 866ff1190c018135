#include "net/routes/task_stream.h"

#include "base/json_out.h"

namespace errand::net {
namespace {

constexpr int store_page = 256;

// Keeps the first frames, up to stored_bytes_max of them.
void bound(std::vector<FramePtr>& frames) {
  size_t bytes = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    bytes += frames[i]->body.size();
    if (bytes > stored_bytes_max && i > 0) return frames.resize(i);
  }
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
  if (!stored_.empty()) {
    send(make_chunk(std::exchange(stored_, {}), false), out);
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
  read_store();
  return Pulled::none;
}

void TaskStream::send(const Chunk& chunk, std::vector<Slice>& out) {
  out.push_back(to_slice(chunk.text));
  if (chunk.last > 0) cursor_ = chunk.last;
  if (chunk.ended) ended_ = *chunk.ended;
  if (chunk.gone) over_ = true;
}

void TaskStream::read_store() {
  struct Page {
    std::vector<FramePtr> frames;
    bool last = false;
    bool gone = false;
  };
  reading_ = true;
  const RouteParts& parts = context_.parts;
  read_then(
      parts.readers, parts.loop,
      [&store = parts.store, &engine = parts.engine, task = task_, after = cursor_] {
        Page page;
        const Result<std::vector<Event>> events = store.events_after(task, after, store_page);
        // Whatever the reason: the reader connects again, and is told then.
        page.gone = !events || (events->empty() && !store.get(task));
        if (page.gone) return page;
        page.frames = engine.frames(*events);
        bound(page.frames);
        page.last = page.frames.size() == events->size() && events->size() < store_page;
        return page;
      },
      [this](Page page) {
        reading_ = false;
        over_ = page.gone;
        behind_ = !page.last;
        reset_due_ = reset_due_ || (!page.frames.empty() && page.frames.front()->seq > cursor_ + 1);
        stored_ = std::move(page.frames);
        ready();
      });
}

}  // namespace errand::net
