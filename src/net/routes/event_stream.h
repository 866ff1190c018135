// What all event streams share: the opening `retry:`, heartbeats, and reading the store on reader threads. A stream
// holds a cursor, never a queue: a slow reader is pulled rarely and costs nothing else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/beside.h"
#include "base/executor.h"
#include "base/time.h"
#include "engine/feed.h"
#include "net/http.h"
#include "net/sse.h"

namespace errand::net {

// What a stream holds of what it read from the store, at most (and at least one event).
inline constexpr size_t stored_bytes_max = 64 * 1024;

class EventStream : public StreamSource {
 public:
  explicit EventStream(Heartbeats& heartbeats);
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  Pulled pull(std::vector<Slice>& out, size_t bytes) final;
  void on_ready(std::function<void()> wake) final { wake_ = std::move(wake); }

 protected:
  // As StreamSource::pull.
  virtual Pulled next(std::vector<Slice>& out, size_t bytes) = 0;
  // There is something to pull. The connection may pull, and write, inside this call.
  void ready() {
    if (wake_) wake_();
  }
  // The same call, which does nothing once this stream is gone.
  template <class F>
  auto while_here(F call) {
    return [here = alive_.watch(), call = std::move(call)](const auto& argument) {
      if (!here.gone()) call(argument);
    };
  }
  // Runs `read()` on `readers`, then `then(result)` on `loop`, unless this stream is gone by then.
  template <class Read, class Then>
  void read_then(Executor& readers, Executor& loop, Read read, Then then) {
    run_then(readers, loop, alive_.watch(), std::move(read), std::move(then));
  }

 private:
  std::unique_ptr<Heartbeats::Member> heartbeat_;
  std::function<void()> wake_;
  bool begun_ = false;
  bool silent_ = false;  // A heartbeat is due.
  Alive alive_;
};

// Several frames as one text, each after its `id:` line.
struct Chunk {
  std::shared_ptr<const std::string> text;
  size_t frames = 0;
  int64_t last = 0;           // The key of the last frame that has one.
  std::optional<bool> ended;  // Says whether the task has come to its end by then; absent: unchanged.
  bool gone = false;          // The task was removed.
};
Chunk make_chunk(const std::vector<FramePtr>& frames, bool by_pos);

// An event that is not stored and has no id: `reset`, `counts`, `server.stopping`.
std::string unstored_event(std::string_view type, std::string_view data, Time wall);

Slice to_slice(std::string text);
inline Slice to_slice(const std::shared_ptr<const std::string>& text) { return {.bytes = *text, .owner = text}; }

}  // namespace errand::net
