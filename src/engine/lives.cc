#include "engine/lives.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace errand {
namespace {

// Queued tasks up to this many are kept whole in memory; past it only their place in line is.
constexpr size_t lives_kept = 1'024;
// One whose messages are longer than this is read again when it begins.
constexpr size_t kept_bytes = 64 << 10;

bool all_soft(const std::vector<Action>& inbox) {
  return std::ranges::all_of(inbox, [](const Action& action) { return action.soft; });
}

bool all_own(const std::vector<Action>& inbox) {
  return std::ranges::none_of(inbox, [](const Action& action) { return static_cast<bool>(action.reply); });
}

}  // namespace

Lives::Lives(Shared& shared, Commits& commits, Decisions& decisions, Slots& slots, Batches& batches)
    : shared_(shared), commits_(commits), decisions_(decisions), slots_(slots), batches_(batches) {
  commits_.on_task([this](Prepared& prepared, Result<Committed>& result) { answered(prepared, result); });
}

void Lives::pump_all() {
  // Pumping may add to the list: performing an effect can submit.
  for (size_t i = 0; i < to_pump_.size(); ++i) {
    const LivePtr live = to_pump_[i];
    pump(live);
  }
  to_pump_.clear();
}

LivePtr Lives::find(const TaskId& id) const {
  const auto it = lives_.find(id);
  return it == lives_.end() ? nullptr : it->second;
}

void Lives::submit(const TaskId& id, Action action) {
  LivePtr live = find(id);
  if (!live) {
    live = std::make_shared<Live>(id);
    lives_.emplace(id, live);
  }
  submit(live, std::move(action));
}

void Lives::submit(const LivePtr& live, Action action) {
  live->inbox.push_back(std::move(action));
  if ((!live->task || live->stale) && !live->busy && !live->loading) load(live);
  to_pump_.push_back(live);
  shared_.schedule();
}

void Lives::load(const LivePtr& live) {
  struct Loaded {
    StoredLive live;
    StoredBatch batch;
  };
  live->loading = true;
  shared_.read(
      [id = live->id](Store& store) -> Result<Loaded> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        Result<StoredLive> stored = read_live(store, std::move(*task));
        if (!stored) return std::unexpected(stored.error());
        Loaded loaded{.live = std::move(*stored), .batch = {}};
        if (const BatchId& id_of_batch = loaded.live.task.launch.batch_id) {
          Result<StoredBatch> batch = read_batch(store, id_of_batch);
          if (!batch) return std::unexpected(batch.error());
          loaded.batch = std::move(*batch);
        }
        return loaded;
      },
      [this, live](Result<Loaded> loaded) {
        live->loading = false;
        if (!loaded) return not_loaded(live, loaded.error());
        if (const BatchId& batch = loaded->live.task.launch.batch_id) batches_.add(batch, std::move(loaded->batch));
        live->take(std::move(loaded->live));
        if (std::exchange(live->stale, false)) {
          follower_->reloaded(live);
          evict(live);
        }
        to_pump_.push_back(live);
        shared_.schedule();
      });
}

// Callers are told; the engine's own actions wait for another try, unless the task is gone.
void Lives::not_loaded(const LivePtr& live, const Error& error) {
  const bool gone = error.code == Code::not_found;
  std::vector<Action> own;
  for (Action& action : std::exchange(live->inbox, {})) {
    if (action.reply)
      action.reply(std::unexpected(error));
    else if (!gone)
      own.push_back(std::move(action));
  }
  // A caller may have come back with something already.
  std::ranges::move(live->inbox, std::back_inserter(own));
  live->inbox = std::move(own);
  if (gone) {
    slots_.remove(live->id);
    slots_.release(live->id);
  }
  if (gone && live->turn) {  // Its rows went behind our back: its run is ended as that of any removed task.
    make_ghost(live);
    return follower_->vanished(live);
  }
  if (live->inbox.empty() && !live->turn) {
    lives_.erase(live->id);
    return;
  }
  shared_.timers.add(store_retry_ms, [this, live] {
    if ((!live->task || live->stale) && !live->loading) load(live);
  });
  shared_.schedule();
}

void Lives::pump(const LivePtr& live) {
  if (live->busy || live->loading || live->stale || !live->task || live->inbox.empty() || live->removed) return;
  const Time now = shared_.steady();
  if (all_own(live->inbox)) {
    Time wait = live->retry_at;
    if (all_soft(live->inbox) && live->soft_bytes < shared_.settings.delta_bytes)
      wait = std::max(wait, live->soft_until);
    if (wait > now) {
      if (live->soft_timer == 0)
        live->soft_timer = shared_.timers.add(wait - now, [this, live] {
          live->soft_timer = 0;
          to_pump_.push_back(live);
        });
      return;
    }
  }
  Prepared prepared;
  prepared.live = live;
  for (Action& action : live->inbox) prepared.actions.push_back(std::move(action));
  live->inbox.clear();
  if (live->soft_bytes > 0) live->soft_taken = now;
  live->soft_bytes = 0;
  live->soft_until = Time{};
  const bool changed = decisions_.decide_all(*live, prepared);
  if (prepared.undecided) {
    batches_.undo(prepared.batch_moves);
    std::ranges::move(prepared.actions, std::back_inserter(live->inbox));
    batches_.hold(*live->task);
    return;
  }
  if (changed) {
    live->busy = true;
    if (prepared.after && prepared.after->run == live->finished_run && !holds_slot(*prepared.after))
      leaving_.push_back(live);
    commits_.stage(std::move(prepared));
    return;
  }
  follower_->unchanged(prepared);
  evict(live);
}

void Lives::evict(const LivePtr& live) {
  if (!live->task || live->busy || live->loading || !live->inbox.empty() || live->turn || live->opening) return;
  if (live->task->phase == TurnPhase::working) return;
  if (live->task->phase == TurnPhase::queued && lives_.size() <= lives_kept && weight(live->messages) <= kept_bytes)
    return;
  lives_.erase(live->id);
}

void Lives::make_ghost(const LivePtr& live) {
  live->removed = true;
  lives_.erase(live->id);
  ghosts_.emplace(live->id, live);
}

int64_t Lives::working() const {
  return std::ranges::count_if(
      lives_, [](const auto& entry) { return entry.second->task && entry.second->task->phase == TurnPhase::working; });
}

void Lives::answered(Prepared& prepared, Result<Committed>& result) {
  for (const TaskId& id : batches_.settle(prepared.batch_moves, result.has_value()))
    if (const LivePtr held = find(id)) pump_soon(held);
  if (!result) return refused(prepared, result.error());
  const LivePtr live = prepared.live;
  live->busy = false;
  live->retry_at = Time{};
  follower_->stored(prepared, *result);
  if (live->removed) return;
  if (!live->inbox.empty()) pump_soon(live);
  evict(live);
}

// The store would not take it: callers are told, the engine's own actions wait for another try.
void Lives::refused(Prepared& prepared, const Error& error) {
  const LivePtr live = prepared.live;
  live->busy = false;
  if (prepared.created) {
    slots_.release(live->id);
    lives_.erase(live->id);
    return;
  }
  log_warning("engine", "commit of " + live->id.value + " refused: " + error.message);
  // Somebody else has stored this task: all that waits is decided on what is there now, also what callers asked for.
  const bool stale = error.reason == "version";
  std::vector<Action> again;
  for (Action& action : prepared.actions) {
    if (action.reply && !stale)
      action.reply(std::unexpected(error));
    else if (!std::holds_alternative<input::Start>(action.input))  // It goes back in line.
      again.push_back(std::move(action));
  }
  std::ranges::move(live->inbox, std::back_inserter(again));
  live->inbox = std::move(again);
  follower_->refused(live);
  if (stale) {
    live->stale = true;
    return load(live);
  }
  live->retry_at = shared_.steady() + store_retry_ms;
  if (!live->inbox.empty()) to_pump_.push_back(live);
  evict(live);
}

}  // namespace errand
