#include "net/routes/shared_stream.h"

#include "api/replies.h"
#include "base/json_out.h"

namespace errand::net {
namespace {

constexpr int store_page = 256;

}  // namespace

SharedStream::SharedStream(Context& context, std::optional<int64_t> after, const std::vector<TaskId>& tasks)
    : EventStream(context.parts.heartbeats),
      context_(context),
      feed_(context.parts.engine.streams().all()),
      names_(std::make_shared<const Names>(tasks.begin(), tasks.end())),
      cursor_(after) {
  feed_->add(this);
}

SharedStream::~SharedStream() { feed_->remove(this); }

bool SharedStream::wanted(const Names& names, EventType type, const TaskId& task) {
  return type == EventType::task_created || type == EventType::task_status || type == EventType::task_progress ||
         names.contains(task);
}

StreamSource::Pulled SharedStream::next(std::vector<Slice>& out, size_t bytes) {
  if (std::exchange(reset_due_, false)) {
    out.push_back(to_slice(unstored_event("reset", "{}", context_.parts.clock.wall())));
  }
  if (!stored_.empty()) {
    out.push_back(to_slice(make_chunk(std::exchange(stored_, {}), true).text));
    return Pulled::some;
  }
  if (broken_) return Pulled::end;
  if (reading_) return Pulled::none;
  std::vector<FramePtr> frames, shown;
  while (!behind_) {
    frames.clear();
    if (!feed_->read(*cursor_, true, bytes, frames)) {
      behind_ = true;  // Slower than the tail is long.
      break;
    }
    if (frames.empty()) {
      const size_t before = out.size();
      send_counts(out);
      return out.size() > before ? Pulled::some : Pulled::none;
    }
    cursor_ = frames.back()->pos;
    for (const FramePtr& frame : frames) {
      if (frame->gone || wanted(*names_, frame->type, frame->task_id)) shown.push_back(frame);
    }
    if (shown.empty()) continue;
    out.push_back(to_slice(make_chunk(shown, true).text));
    return Pulled::some;
  }
  read_store();
  return Pulled::none;
}

void SharedStream::send_counts(std::vector<Slice>& out) {
  const StateCounts now = context_.parts.engine.administration().counts();
  if (counts_ == now) return;
  counts_ = now;
  std::string data;
  JsonOut json(data);
  json.object().key("counts");
  api::write_counts(json, now);
  json.field("running", api::running_count(now)).end();
  out.push_back(to_slice(unstored_event("counts", data, context_.parts.clock.wall())));
}

void SharedStream::read_store() {
  struct Page {
    std::vector<FramePtr> frames;
    int64_t cursor = 0;
    bool last = false;
    bool reset = false;
    bool broken = false;
  };
  reading_ = true;
  const RouteParts& parts = context_.parts;
  read_then(
      parts.readers, parts.loop,
      [&store = parts.store, &engine = parts.engine, names = names_, after = cursor_] {
        Page page;
        if (!after || *after > store.last_pos()) {
          // From now on; a cursor from the future belongs to another store.
          page.reset = after.has_value();
          page.cursor = store.last_pos();
          page.last = true;
          return page;
        }
        const Result<std::vector<Change>> changes = store.changes_after(*after, store_page);
        if (!changes) {
          page.reset = changes.error().reason == "reset";
          page.broken = !page.reset;
          page.cursor = store.last_pos();
          page.last = true;
          return page;
        }
        page.cursor = *after;
        size_t bytes = 0;
        size_t taken = 0;
        for (const Change& change : *changes) {
          if (bytes > stored_bytes_max) break;
          ++taken;
          page.cursor = change.pos;
          if (change.gone) {
            page.frames.push_back(engine.streams().gone_frame(*change.gone));
          } else if (change.event && wanted(*names, change.event->type, change.event->task_id)) {
            page.frames.push_back(engine.streams().frames({*change.event}).front());
            bytes += page.frames.back()->body.size();
          }
        }
        page.last = taken == changes->size() && taken < store_page;
        return page;
      },
      [this](Page page) {
        reading_ = false;
        cursor_ = page.cursor;
        behind_ = !page.last;
        reset_due_ = page.reset;
        broken_ = page.broken;
        stored_ = std::move(page.frames);
        ready();
      });
}

}  // namespace errand::net
