#include "engine/starts.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace errand {

void Starts::settle(Live& live) {
  const Task& task = *live.task;
  const Launch& launch = task.launch;
  const auto starts = [](const Action& action) { return std::holds_alternative<input::Start>(action.input); };
  if (task.phase == TurnPhase::queued) {
    // Its slot is reserved already, and the start waits behind what was just stored.
    if (std::ranges::any_of(live.inbox, starts)) return;
    slots_.release(task.id);
    slots_.enqueue({.id = task.id,
                    .agent_id = launch.agent_id,
                    .model = launch.model,
                    .batch_id = launch.batch_id,
                    .priority = launch.priority,
                    .queued_at = task.queued_at,
                    .over_limit = launch.authorize_over_limit});
    return;
  }
  slots_.remove(task.id);
  // A start that came while its end was under way was for the turn that is over, and its slot goes: one that is begun
  // again waits in line like others.
  if (!holds_slot(task)) std::erase_if(live.inbox, starts);
  if (holds_slot(task))
    slots_.hold(task.id, launch.agent_id, launch.model);
  else if (!shared_.faults.keep_slot || !slots_.holds(task.id) || !shared_.faults.keep_slot(task.id))
    slots_.release(task.id);
}

void Starts::start_queued() {
  if (shared_.draining || shared_.recovering) return;
  while (std::optional<TaskId> id = slots_.next()) lives_.submit(*id, {.input = input::Start{}});
}

void Starts::start_in_place() {
  const std::vector<LivePtr> leaving = lives_.take_leaving();
  if (shared_.draining || shared_.recovering || shared_.faults.keep_slot) return;
  for (const LivePtr& live : leaving) {
    if (!slots_.holds(live->id)) continue;
    const Launch& launch = live->task->launch;
    slots_.release(live->id);
    const std::optional<TaskId> first = slots_.first();
    const LivePtr next = first ? lives_.find(*first) : nullptr;
    const bool at_once = next && next->task && !next->busy && !next->loading && next->inbox.empty() &&
                         next->retry_at <= shared_.steady();
    if (!at_once) {
      slots_.hold(live->id, launch.agent_id, launch.model);  // Until its end is stored.
      continue;
    }
    slots_.next();
    lives_.submit(next, {.input = input::Start{}});
    lives_.pump_all();
  }
}

}  // namespace errand
