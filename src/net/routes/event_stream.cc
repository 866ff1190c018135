#include "net/routes/event_stream.h"

#include "base/json_out.h"
#include "net/routes/routes.h"
#include "task/task.h"

namespace errand::net {
namespace {

void note_end(const Frame& frame, std::optional<bool>& ended) {
  if (frame.type == EventType::end) {
    ended = true;
  } else if (frame.type == EventType::task_status) {
    // Resumed or retried: there is more to come. A status at rest is no end yet: its processes may still be stopping.
    if (frame.state && at_work(*frame.state)) ended = false;
  }
}

}  // namespace

EventStream::EventStream(Heartbeats& heartbeats)
    : heartbeat_(heartbeats.join([this] {
        silent_ = true;
        ready();
      })) {}

StreamSource::Pulled EventStream::pull(std::vector<Slice>& out, size_t bytes) {
  const size_t before = out.size();
  if (!std::exchange(begun_, true)) out.push_back(sse_opening());
  const Pulled pulled = next(out, bytes);
  if (std::exchange(silent_, false) && out.size() == before) out.push_back(sse_heartbeat());
  if (out.size() == before) return pulled;
  heartbeat_->spoke();
  return pulled == Pulled::end ? Pulled::end : Pulled::some;
}

Chunk make_chunk(const std::vector<FramePtr>& frames, bool by_pos) {
  Chunk chunk;
  std::string text;
  for (const FramePtr& shared : frames) {
    const Frame& frame = *shared;
    const int64_t key = by_pos ? frame.pos : frame.seq;
    if (key > 0) {
      text += "id: " + std::to_string(key) + '\n';
      chunk.last = key;
    }
    text += frame.body;
    chunk.gone = chunk.gone || frame.gone;
    note_end(frame, chunk.ended);
    ++chunk.frames;
  }
  chunk.text = std::make_shared<const std::string>(std::move(text));
  return chunk;
}

std::string unstored_event(std::string_view type, std::string_view data, Time wall) {
  std::string event = "event: " + std::string(type) + "\ndata: ";
  JsonOut out(event);
  out.object().field("type", type).field("at", wall).key("data").raw(data).end();
  event += "\n\n";
  return event;
}

Slice to_slice(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {.bytes = *owner, .owner = owner};
}

std::string farewell(Time wall) { return unstored_event("server.stopping", "{}", wall); }

}  // namespace errand::net
