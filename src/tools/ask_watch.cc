#include "tools/ask_watch.h"

#include <algorithm>

namespace errand::tools {

AskWatch::AskWatch(CallPtr call, std::vector<TaskId> ids, std::function<void()> asked)
    : call_(std::move(call)), ids_(std::move(ids)), asked_(std::move(asked)) {
  if (call_->caller.session.empty()) return;
  feed_ = call_->parts.engine.streams().session_feed(call_->caller.session);
  feed_->add(this);
  wake();
}

AskWatch::~AskWatch() {
  if (feed_) feed_->remove(this);
}

// Inside the engine's own work: what is to be done is done after it, and once however often it wakes.
void AskWatch::wake() {
  if (std::exchange(looking_, true)) return;
  call_->parts.loop.post([this, here = alive_.watch()] {
    if (!here.gone()) look();
  });
}

void AskWatch::look() {
  looking_ = false;
  for (const TaskId& id : ids_)
    call_->parts.engine.tasks().get(id, [this, here = alive_.watch()](const Result<TaskView>& view) {
      if (view && !here.gone()) seen(view->task);
    });
}

void AskWatch::seen(const Task& task) {
  const bool asks = at_work(task.state) && std::ranges::any_of(task.asks, [&](const Ask& ask) {
                      return ask.decision.empty() && (ask.kind == AskKind::answer || call_->caller.asks_person);
                    });
  // May destroy this.
  if (asks && asked_) std::exchange(asked_, nullptr)();
}

}  // namespace errand::tools
