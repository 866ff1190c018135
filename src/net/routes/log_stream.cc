#include "net/routes/log_stream.h"

#include <optional>

#include "net/routes/event_stream.h"

namespace errand::net {
namespace {

constexpr int64_t piece_bytes = 64 * 1024;

}  // namespace

LogStream::LogStream(Context& context, Start start, LogText text)
    : context_(context),
      task_(std::move(start.task)),
      run_(start.run),
      driver_(start.driver),
      attempt_(start.attempt),
      next_(start.offset),
      text_(std::move(text)),
      ready_(std::move(start.first)),
      at_rest_(!start.follow) {
  if (!start.follow) return;
  feed_ = context_.parts.engine.streams().feed(task_);
  feed_->add(this);
}

LogStream::~LogStream() {
  if (feed_) feed_->remove(this);
}

void LogStream::wake() {
  stale_ = true;
  if (wake_) wake_();
}

StreamSource::Pulled LogStream::pull(std::vector<Slice>& out, size_t) {
  if (!ready_.empty()) {
    out.push_back(to_slice(std::exchange(ready_, {})));
    return Pulled::some;
  }
  if (finished_) return Pulled::end;
  if (stale_ && !busy_) read_on();
  return Pulled::none;
}

void LogStream::read_on() {
  stale_ = false;
  if (run_ == 0) return ask_whether_over();
  busy_ = true;
  const RouteParts& parts = context_.parts;
  run_then(
      parts.readers, parts.loop, alive_.watch(),
      [driver = driver_, task = task_, run = run_, offset = next_] {
        return driver->read_log(task, run, offset, piece_bytes);
      },
      [this](Result<LogRead> read) { took(std::move(read)); });
}

void LogStream::took(Result<LogRead> read) {
  busy_ = false;
  const bool some = read && (!read->pieces.empty() || read->cut > 0) && read->next > next_;
  if (some) {
    next_ = read->next;
    text_.add(*read, ready_);
    stale_ = true;
    if (ready_.empty()) return read_on();  // Nothing of it was wanted.
  } else if (at_rest_ && next_run_ > 0) {
    run_ = std::exchange(next_run_, 0);
    next_ = 0;
    at_rest_ = false;
    stale_ = true;
    text_.say_run(run_, ready_);
    if (ready_.empty()) return read_on();
  } else if (at_rest_) {
    text_.finish(ready_);
    finished_ = true;
  } else {
    return ask_whether_over();
  }
  if (wake_) wake_();
}

void LogStream::ask_whether_over() {
  busy_ = true;
  context_.parts.engine.tasks().get(task_, [this, here = alive_.watch()](const Result<TaskView>& view) {
    if (here.gone()) return;
    busy_ = false;
    std::optional<RunRange> runs;
    if (view && attempt_ == view->task.attempt) runs = runs_of(view->task, attempt_);
    if (run_ == 0 && !runs) {  // Not begun yet, or ended before it began.
      if (!view || !at_work(view->task.state)) {
        finished_ = true;
        if (wake_) wake_();
      } else if (stale_) {
        read_on();
      }
      return;
    }
    if (run_ == 0) run_ = runs->first;
    if (runs && runs->last > run_) next_run_ = run_ + 1;
    // A run of another attempt has a log of its own; a task that is gone has none.
    at_rest_ = !view || view->task.run != run_ || view->task.phase != TurnPhase::working;
    // Once more: it may have printed between the reading and the question.
    if (at_rest_ || stale_) read_on();
  });
}

}  // namespace errand::net
