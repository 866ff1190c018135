#include "engine/shared.h"

namespace errand {

Shared::Shared(const EngineParts& parts, EngineSettings with)
    : store(parts.store),
      loop(parts.loop),
      readers(parts.readers),
      clock(parts.clock),
      faults(parts.faults),
      ids(parts.clock, parts.random),
      timers(parts.clock),
      settings(std::move(with)) {}

void Shared::schedule() {
  if (std::exchange(tick_posted_, true)) return;
  loop.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    tick_posted_ = false;
    tick_();
  });
}

void Shared::later(Work work) {
  loop.post([alive = std::weak_ptr(alive_), work = std::move(work)]() mutable {
    if (!alive.expired()) work();
  });
}

}  // namespace errand
