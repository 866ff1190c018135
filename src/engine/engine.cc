// The tick and a task's way through memory: submitted, loaded, pumped, evicted. See engine_impl.h.
#include "engine/engine.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {

// Queued tasks up to this many are kept whole in memory; past it only their place in line is.
constexpr size_t lives_kept = 1'024;
// One whose messages are longer than this is read again when it begins.
constexpr size_t kept_bytes = 64 << 10;

SlotLimits slot_limits(const EngineParts& parts, const EngineSettings& settings) {
  SlotLimits limits{settings.max_concurrent, settings.max_per_agent, settings.max_per_model};
  for (const Agent& agent : parts.agents)
    if (agent.max_concurrent > 0) limits.per_agent.emplace(agent.id, agent.max_concurrent);
  return limits;
}

// Only commands print; their driver reads the logs.
const Driver* printer(const EngineParts& parts) {
  const auto driver = parts.drivers.find("command");
  return driver == parts.drivers.end() ? nullptr : driver->second;
}

bool all_soft(const std::vector<Action>& inbox) {
  return std::ranges::all_of(inbox, [](const Action& action) { return action.soft; });
}

bool all_own(const std::vector<Action>& inbox) {
  return std::ranges::none_of(inbox, [](const Action& action) { return static_cast<bool>(action.reply); });
}

}  // namespace

std::unique_ptr<Engine> make_engine(EngineParts parts, EngineSettings settings) {
  return std::make_unique<EngineImpl>(std::move(parts), std::move(settings));
}

Live::Live(TaskId task_id) : id(std::move(task_id)) {}
Live::~Live() = default;

EngineImpl::EngineImpl(EngineParts parts, EngineSettings settings)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      ids_(parts_.clock, parts_.random),
      timers_(parts_.clock),
      looks_(parts_.folders != nullptr ? *parts_.folders : parts_.readers, parts_.loop, parts_.clock, timers_,
             [this] { schedule(); }),
      slots_(slot_limits(parts_, settings_)),
      feeds_(
          printer(parts_),
          [this](const TaskId& id) {
            const LivePtr live = find_live(id);
            return live && live->task ? live->task->last_seq : 0;
          },
          parts_.faults.skip_frame),
      quotas_(
          parts_.clock, timers_,
          [this](const std::string& agent, const std::string& model) { return account_of(agent, model); },
          [this] { schedule(); }) {
  for (Agent& agent : std::exchange(parts_.agents, {}))
    agents_.push_back(std::make_shared<const Agent>(std::move(agent)));
  slots_.set_gate([this](const std::string& agent, const std::string& model) { return !quotas_.hold(agent, model); });
}

EngineImpl::~EngineImpl() {
  leave_turns();
  for (auto* lives : {&lives_, &ghosts_})
    for (auto& [id, live] : *lives) live->inbox.clear();  // Whoever waits for something of it may hold it.
  dead_turns_.clear();
}

// The server goes, and nobody has ordered that the work ends: it is left as it is (~Turn). Turns before their sinks.
void EngineImpl::leave_turns() {
  for (auto* lives : {&lives_, &ghosts_})
    for (auto& [id, live] : *lives) {
      if (live->sink) live->sink->mute();
      live->turn.reset();
    }
}

void EngineImpl::leave_drivers() {
  std::set<const Driver*> at_work;
  for (const auto* lives : {&lives_, &ghosts_})
    for (const auto& [id, live] : *lives)
      if (live->task && (live->removed || live->task->phase == TurnPhase::working))
        at_work.insert(driver_of(*live->task));
  for (const auto& [name, driver] : parts_.drivers) driver->server_leaves(at_work.contains(driver));
}

void EngineImpl::schedule() {
  if (std::exchange(tick_posted_, true)) return;
  parts_.loop.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    tick_posted_ = false;
    const Time next = tick();
    if (parts_.wake_at && next) parts_.wake_at(next);
  });
}

Time EngineImpl::tick() {
  dead_turns_.clear();
  dead_sinks_.clear();
  timers_.run_due();
  start_queued();
  pump_all();
  start_in_place();
  hand_over();
  give_room();
  if (draining_ && under_way_ == 0 && staged_.empty() && drained_) {
    leave_turns();
    leave_drivers();
    std::exchange(drained_, nullptr)({});
  }
  return timers_.next_due();
}

void EngineImpl::pump_all() {
  // Pumping may add to the list: performing an effect can submit.
  for (size_t i = 0; i < to_pump_.size(); ++i) {
    const LivePtr live = to_pump_[i];
    pump(live);
  }
  to_pump_.clear();
}

LivePtr EngineImpl::find_live(const TaskId& id) const {
  const auto it = lives_.find(id);
  return it == lives_.end() ? nullptr : it->second;
}

void EngineImpl::submit(const TaskId& id, Action action) {
  LivePtr live = find_live(id);
  if (!live) {
    live = std::make_shared<Live>(id);
    lives_.emplace(id, live);
  }
  submit(live, std::move(action));
}

void EngineImpl::submit(const LivePtr& live, Action action) {
  live->inbox.push_back(std::move(action));
  if ((!live->task || live->stale) && !live->busy && !live->loading) load(live);
  to_pump_.push_back(live);
  schedule();
}

void EngineImpl::load(const LivePtr& live) {
  struct Loaded {
    Task task;
    Session session;
    std::optional<Message> open;
    std::vector<Message> messages;
    StoredBatch batch;
  };
  live->loading = true;
  read(
      [id = live->id](Store& store) -> Result<Loaded> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        Loaded loaded{.task = std::move(*task)};
        Result<Session> session = store.session(loaded.task.session_id);
        if (!session) return std::unexpected(session.error());
        loaded.session = std::move(*session);
        if (loaded.task.phase == TurnPhase::working) {
          Result<std::optional<Message>> open = open_message(store, loaded.task.session_id);
          if (!open) return std::unexpected(open.error());
          loaded.open = std::move(*open);
        }
        for (const WaitingMessage& waiting : loaded.task.waiting) {
          Result<Message> message = store.message(waiting.id);
          if (!message) return std::unexpected(message.error());
          loaded.messages.push_back(std::move(*message));
        }
        if (loaded.task.launch.batch_id) {
          Result<StoredBatch> batch = read_batch(store, loaded.task.launch.batch_id);
          if (!batch) return std::unexpected(batch.error());
          loaded.batch = std::move(*batch);
        }
        return loaded;
      },
      [this, live](Result<Loaded> loaded) {
        live->loading = false;
        if (!loaded) return not_loaded(live, loaded.error());
        assert_task(loaded->task);
        if (loaded->task.launch.batch_id) batches_.add(loaded->task.launch.batch_id, std::move(loaded->batch));
        live->recorder.start(loaded->session.last_message, std::move(loaded->open));
        for (Message& message : loaded->messages) live->messages.insert_or_assign(message.id, std::move(message));
        live->task = std::make_shared<const Task>(std::move(loaded->task));
        if (std::exchange(live->stale, false)) reloaded(live);
        to_pump_.push_back(live);
        schedule();
      });
}

// Somebody else had stored it: what is derived of it follows.
void EngineImpl::reloaded(const LivePtr& live) {
  settle_slot(*live);
  quotas_.settle(*live->task);
  const bool working = live->task->phase == TurnPhase::working;
  if (live->turn && (!working || live->task->run != live->sink->run())) stop_turn(live);
  evict(live);
}

// Callers are told; the engine's own actions wait for another try, unless the task is gone.
void EngineImpl::not_loaded(const LivePtr& live, const Error& error) {
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
    live->removed = true;
    disarm_deadlines(*live);
    lives_.erase(live->id);
    ghosts_.emplace(live->id, live);
    return stop_turn(live);
  }
  if (live->inbox.empty() && !live->turn) {
    lives_.erase(live->id);
    return;
  }
  timers_.add(store_retry_ms, [this, live] {
    if ((!live->task || live->stale) && !live->loading) load(live);
  });
  schedule();
}

void EngineImpl::pump(const LivePtr& live) {
  if (live->busy || live->loading || live->stale || !live->task || live->inbox.empty() || live->removed) return;
  const Time now = steady();
  if (all_own(live->inbox)) {
    Time wait = live->retry_at;
    if (all_soft(live->inbox) && live->soft_bytes < settings_.delta_bytes) wait = std::max(wait, live->soft_until);
    if (wait > now) {
      if (live->soft_timer == 0)
        live->soft_timer = timers_.add(wait - now, [this, live] {
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
  live->soft_bytes = 0;
  live->soft_until = Time{};
  const bool changed = decide_all(live, prepared);
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
    stage(std::move(prepared));
    return;
  }
  // Nothing to store.
  reports_stored(live, prepared.actions);
  answer_actions(prepared);
  perform(live, std::move(prepared.effects));
  evict(live);
}

// A slot is held exactly while a turn of the task really works; a turn in line has its place.
void EngineImpl::settle_slot(Live& live) {
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
  else if (!parts_.faults.keep_slot || !slots_.holds(task.id) || !parts_.faults.keep_slot(task.id))
    slots_.release(task.id);
}

void EngineImpl::start_queued() {
  if (draining_ || recovering_) return;
  while (std::optional<TaskId> id = slots_.next()) submit(*id, {.input = input::Start{}});
}

// What begins where a turn has just ended goes into the same group as that end, stored together or not at all: one wait
// for the disk instead of two between one command and the next.
void EngineImpl::start_in_place() {
  const std::vector<LivePtr> leaving = std::exchange(leaving_, {});
  if (draining_ || recovering_ || parts_.faults.keep_slot) return;
  for (const LivePtr& live : leaving) {
    if (!slots_.holds(live->id)) continue;
    const Launch& launch = live->task->launch;
    slots_.release(live->id);
    const std::optional<TaskId> first = slots_.first();
    const LivePtr next = first ? find_live(*first) : nullptr;
    const bool at_once =
        next && next->task && !next->busy && !next->loading && next->inbox.empty() && next->retry_at <= steady();
    if (!at_once) {
      slots_.hold(live->id, launch.agent_id, launch.model);  // Until its end is stored.
      continue;
    }
    slots_.next();
    submit(next, {.input = input::Start{}});
    pump_all();
  }
}

void EngineImpl::evict(const LivePtr& live) {
  if (!live->task || live->busy || live->loading || !live->inbox.empty() || live->turn || live->opening) return;
  if (live->task->phase == TurnPhase::working) return;
  if (live->task->phase == TurnPhase::queued && lives_.size() <= lives_kept && weight(live->messages) <= kept_bytes)
    return;
  lives_.erase(live->id);
}

bool EngineImpl::overloaded() const {
  return under_way_ + static_cast<int64_t>(staged_.size()) > settings_.inbox_max ||
         backlog_->inputs > settings_.inbox_max || backlog_->bytes > settings_.inbox_bytes;
}

std::unexpected<Error> EngineImpl::busy_error() const {
  if (draining_) return fail(Code::unavailable, "The server is stopping; try again in a moment.", "stopping");
  return fail(Code::exhausted, "Too many requests wait to be stored; try again in a second.");
}

void EngineImpl::drain(Reply<void> reply) {
  draining_ = true;
  drained_ = std::move(reply);
  dismiss_waiters();
  looks_.dismiss(busy_error().error());
  schedule();
}

void EngineImpl::dismiss_waiters() {
  waiters_.dismiss();
  all_waiters_.dismiss();
  first_waiters_.dismiss();
  notice_waiters_.dismiss();
}

Reply<TaskPtr> EngineImpl::as_view(Reply<TaskView> reply) {
  return [this, reply = std::move(reply)](Result<TaskPtr> task) mutable {
    if (task)
      reply(view(std::move(*task)));
    else
      reply(std::unexpected(task.error()));
  };
}

}  // namespace errand
