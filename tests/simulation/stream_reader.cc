#include "tests/simulation/stream_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace errand::sim {
namespace {

constexpr int page = 7;  // Small, so that catching up takes several reads and races with what is new.

// What the store has after a cursor, as frames.
struct CaughtUp {
  std::vector<FramePtr> frames;
  bool all = false;  // There was no more.
  bool gone = false;
  bool failed = false;
  std::optional<int64_t> reset;  // What comes next was forgotten: whoever reads begins anew from here.
};

CaughtUp read_task(StreamServer& server, const TaskId& task, int64_t after) {
  CaughtUp out;
  const Result<std::vector<Event>> events = server.store.events_after(task, after, page);
  if (!events) {
    out.gone = events.error().code == Code::not_found;
    out.failed = !out.gone;
    return out;
  }
  out.frames = server.engine.streams().frames(*events);
  out.all = std::ssize(*events) < page;
  return out;
}

CaughtUp read_all(StreamServer& server, int64_t after) {
  CaughtUp out;
  const Result<std::vector<Change>> changes = server.store.changes_after(after, page);
  if (!changes) {
    out.failed = changes.error().reason != "reset";
    if (!out.failed) out.reset = server.store.last_pos();
    out.all = !out.failed;
    return out;
  }
  for (const Change& change : *changes) {
    if (change.event)
      out.frames.push_back(server.engine.streams().frames({*change.event}).front());
    else
      out.frames.push_back(server.engine.streams().gone_frame(*change.gone));
  }
  out.all = std::ssize(*changes) < page;
  return out;
}

}  // namespace

StreamReader::StreamReader(TaskId task, Truth& truth, Verdict& verdict)
    : task_(std::move(task)), truth_(truth), verdict_(verdict) {}

void StreamReader::connect(StreamServer& server) {
  cut();
  feed_ = by_pos() ? server.engine.streams().all() : server.engine.streams().feed(task_);
  feed_->add(this);
  connection_ = std::make_shared<char>();
  behind_ = true;
  awake_ = reading_ = false;
}

void StreamReader::cut() {
  if (feed_) feed_->remove(this);
  feed_.reset();
  connection_.reset();
}

bool StreamReader::step(StreamServer& server, size_t bytes) {
  if (!feed_ || reading_ || gone_) return false;
  if (behind_) {
    read_store(server);
    return true;
  }
  if (!awake_) return false;
  std::vector<FramePtr> frames;
  if (!feed_->read(cursor_, by_pos(), bytes, frames)) {
    behind_ = true;
    return true;
  }
  if (frames.empty()) awake_ = false;
  for (const FramePtr& frame : frames) take(*frame, server.engine.streams());
  return true;
}

void StreamReader::read_store(StreamServer& server) {
  reading_ = true;
  server.readers.post([this, &server, connection = std::weak_ptr(connection_), after = cursor_] {
    if (connection.expired()) return;
    auto caught_up = std::make_shared<CaughtUp>(by_pos() ? read_all(server, after) : read_task(server, task_, after));
    server.loop.post([this, &server, connection, caught_up] {
      if (connection.expired()) return;
      reading_ = false;
      if (caught_up->gone) gone_ = true;
      if (caught_up->reset && cursor_ >= truth_.disk().forgotten_pos)
        verdict_.broken(fmt::format("the stream of everything was sent back to its beginning at {}", cursor_));
      if (caught_up->reset) cursor_ = std::max(cursor_, *caught_up->reset);
      for (const FramePtr& frame : caught_up->frames) take(*frame, server.engine.streams());
      if (caught_up->failed || !caught_up->all) return;
      behind_ = false;
      awake_ = true;
    });
  });
}

void StreamReader::take(const Frame& frame, const Streams& streams) {
  if (by_pos())
    take_by_pos(frame);
  else
    take_by_seq(frame, streams);
}

void StreamReader::take_by_seq(const Frame& frame, const Streams& streams) {
  if (frame.gone) {
    gone_ = true;
    truth_.acknowledged_gone(task_, "a stream");
    return;
  }
  if (frame.task_id != task_) return verdict_.broken("a task's stream showed an event of another");
  if (frame.seq != cursor_ + 1)
    return verdict_.broken(fmt::format("a stream of {} showed seq {} after {}", task_.value, frame.seq, cursor_));
  cursor_ = frame.seq;
  const MemoryDisk::TaskRow* row = truth_.disk().find(task_);
  if (!row) return;  // Removed since.
  if (frame.seq > std::ssize(row->events))
    return verdict_.broken(fmt::format("a stream of {} showed seq {}, which is not on disk", task_.value, frame.seq));
  const Event& stored = row->events[static_cast<size_t>(frame.seq - 1)];
  if (frame.type != stored.type || frame.pos != stored.pos || streams.frames({stored}).front()->body != frame.body)
    verdict_.broken(fmt::format("a stream of {} showed seq {} otherwise than it is on disk", task_.value, frame.seq));
}

void StreamReader::take_by_pos(const Frame& frame) {
  if (frame.pos <= cursor_)
    return verdict_.broken(fmt::format("the stream of everything showed pos {} after {}", frame.pos, cursor_));
  const auto next = truth_.disk().order.upper_bound(cursor_);
  if (next != truth_.disk().order.end() && next->first < frame.pos)
    verdict_.broken(fmt::format("the stream of everything left out pos {}", next->first));
  if (frame.pos > truth_.disk().last_pos)
    verdict_.broken(fmt::format("the stream of everything showed pos {}, which is not on disk", frame.pos));
  cursor_ = frame.pos;
}

void StreamReader::check_complete() const {
  MemoryDisk& disk = truth_.disk();
  if (by_pos()) {
    if (const auto next = disk.order.upper_bound(cursor_); next != disk.order.end())
      verdict_.broken(fmt::format("the stream of everything stopped at {} of {}", cursor_, disk.last_pos));
    return;
  }
  const MemoryDisk::TaskRow* row = disk.find(task_);
  if (!row && !gone_) verdict_.broken("a stream was not told that " + task_.value + " is gone");
  if (row && cursor_ != row->task.last_seq)
    verdict_.broken(fmt::format("a stream of {} stopped at {} of {}", task_.value, cursor_, row->task.last_seq));
}

}  // namespace errand::sim
