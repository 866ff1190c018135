#include "serve/ground.h"

namespace errand::serve {
namespace {

constexpr Millis leave_ms = 1'000;  // What the background does when the server stops may take this long.

}  // namespace

Ground::Ground() {
  timers.on_earlier([this](Time at) { timer_->set(at, [this] { run_timers(); }); });
}

bool Ground::stop() {
  readers.stop();
  files.stop();
  bool left = folders.stop(leave_ms);
  left = background.stop(leave_ms) && left;
  left = calls.stop(leave_ms) && left;
  return left;
}

void Ground::run_timers() {
  timers.run_due();
  const Time next = timers.next_due();
  if (next) timer_->set(next, [this] { run_timers(); });
}

}  // namespace errand::serve
