// Tick, pump, commit, apply. See engine_impl.h.
#include "engine/engine.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "engine/frame.h"
#include "task/json_in.h"

namespace errand {
namespace {

// Queued tasks up to this many are kept whole in memory; past it only their place in line is.
constexpr size_t lives_kept = 1'024;

SlotLimits slot_limits(const EngineParts& parts, const EngineSettings& settings) {
  SlotLimits limits{settings.max_concurrent, settings.max_per_agent, settings.max_per_model};
  for (const Agent& agent : parts.agents)
    if (agent.max_concurrent > 0) limits.per_agent.emplace(agent.id, agent.max_concurrent);
  return limits;
}

bool all_soft(const std::deque<Action>& inbox) {
  return std::ranges::all_of(inbox, [](const Action& action) { return action.soft; });
}

bool all_own(const std::deque<Action>& inbox) {
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
      slots_(slot_limits(parts_, settings_)) {}

EngineImpl::~EngineImpl() {
  // Turns before their sinks.
  for (auto* lives : {&lives_, &ghosts_})
    for (auto& [id, live] : *lives) live->turn.reset();
  dead_turns_.clear();
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
  // Pumping may add to the list: performing an effect can submit.
  for (size_t i = 0; i < to_pump_.size(); ++i) {
    const LivePtr live = to_pump_[i];
    pump(live);
  }
  to_pump_.clear();
  hand_over();
  if (draining_ && under_way_ == 0 && staged_.empty() && drained_) {
    for (auto* lives : {&lives_, &ghosts_})
      for (auto& [id, live] : *lives)
        if (live->turn) {
          live->sink->mute();
          live->turn->detach();
          live->turn.reset();
        }
    std::exchange(drained_, nullptr)({});
  }
  return timers_.next_due();
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
  if (!live->task && !live->busy && !live->loading) load(live);
  to_pump_.push_back(live);
  schedule();
}

void EngineImpl::load(const LivePtr& live) {
  struct Loaded {
    Task task;
    Session session;
    std::vector<Message> messages;
    BatchCounts batch;
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
        for (const WaitingMessage& waiting : loaded.task.waiting) {
          Result<Message> message = store.message(waiting.id);
          if (!message) return std::unexpected(message.error());
          loaded.messages.push_back(std::move(*message));
        }
        if (loaded.task.launch.batch_id) {
          Result<BatchCounts> counts = store.batch_counts(loaded.task.launch.batch_id);
          if (!counts) return std::unexpected(counts.error());
          loaded.batch = *counts;
        }
        return loaded;
      },
      [this, live](Result<Loaded> loaded) {
        live->loading = false;
        if (!loaded) return not_loaded(live, loaded.error());
        assert_task(loaded->task);
        if (loaded->task.launch.batch_id) batches_.try_emplace(loaded->task.launch.batch_id, Batch{loaded->batch, {}});
        live->recorder.start(loaded->session.last_message, {});
        for (Message& message : loaded->messages) live->messages.insert_or_assign(message.id, std::move(message));
        live->task = std::make_shared<const Task>(std::move(loaded->task));
        to_pump_.push_back(live);
        schedule();
      });
}

// Callers are told; the engine's own actions wait for another try, unless the task is gone.
void EngineImpl::not_loaded(const LivePtr& live, const Error& error) {
  const bool gone = error.code == Code::not_found;
  std::deque<Action> own;
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
  if (live->inbox.empty()) {
    lives_.erase(live->id);
    return;
  }
  timers_.add(store_retry_ms, [this, live] {
    if (!live->task && !live->loading) load(live);
  });
  schedule();
}

void EngineImpl::pump(const LivePtr& live) {
  if (live->busy || live->loading || !live->task || live->inbox.empty() || live->removed) return;
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
  if (decide_all(live, prepared)) {
    live->busy = true;
    stage(std::move(prepared));
    return;
  }
  // Nothing to store.
  answer_actions(prepared);
  perform(live, std::move(prepared.effects));
  evict(live);
}

// Decides everything that waits. False: nothing has changed.
bool EngineImpl::decide_all(const LivePtr& live, Prepared& prepared) {
  Task after = *live->task;
  prepared.recorder = live->recorder;
  Recording out;
  bool changed = false;
  const Time now = wall();
  for (const Action& action : prepared.actions) {
    if (prepared.commit.remove) {
      prepared.refused.push_back(Error{Code::not_found, "The task was removed.", "deleted"});
      continue;
    }
    Result<Step> step = decide(after, action.input, now);
    if (!step) {
      prepared.refused.push_back(step.error());
      continue;
    }
    prepared.refused.emplace_back();
    if (step->removed) {
      prepared.commit.remove = action.gone;
      std::ranges::move(step->effects, std::back_inserter(prepared.effects));
      changed = true;
      continue;
    }
    if (std::holds_alternative<input::Activity>(action.input)) {
      if (step->unchanged) continue;  // Fenced.
      after = std::move(step->after);
      decide_reports(*live, action, after, prepared, out, changed);
      after.checkpoint = action.checkpoint;
      changed = true;
      continue;
    }
    for (const Message& message : action.messages) {
      live->messages.insert_or_assign(message.id, message);
      Message stored = message;
      stored.turn = step->after.turn;
      prepared.recorder.add_message(std::move(stored), out, now);
    }
    std::ranges::copy(action.taken, std::back_inserter(prepared.commit.taken));
    const bool unchanged = step->unchanged;
    add_step(std::move(*step), after, prepared, out, changed);
    if (std::holds_alternative<input::ProgressDue>(action.input) && !unchanged)
      add_notice(progress_notice(after, ids_.notice(), now), prepared, out);
  }
  if (changed) finish(prepared, std::move(after), std::move(out));
  return changed;
}

void EngineImpl::decide_reports(Live& live, const Action& action, Task& after, Prepared& prepared, Recording& out,
                                bool& changed) {
  const Time now = wall();
  for (const Report& report : action.reports) {
    // After a cancel only what is true of the processes counts.
    if (!at_work(after.state) && !std::holds_alternative<report::Output>(report) &&
        !std::holds_alternative<report::Resources>(report))
      continue;
    if (const auto* taken = std::get_if<report::Taken>(&report)) {
      Result<Step> step = decide(after, input::Taken{after.run, taken->message}, now);
      if (!step || step->unchanged) continue;
      const auto body = live.messages.find(taken->message);
      if (body != live.messages.end()) prepared.recorder.take_message(body->second, out, now);
      add_step(std::move(*step), after, prepared, out, changed);
    } else if (const auto* asks = std::get_if<report::Asks>(&report)) {
      Ask ask{asks->request_id, asks->kind, asks->text, asks->options, now, {}, {}};
      Result<Step> step = decide(after, input::Asked{after.run, std::move(ask)}, now);
      if (step) add_step(std::move(*step), after, prepared, out, changed);
    } else if (const auto* session = std::get_if<report::AgentSession>(&report)) {
      after.driver_session = session->id;
    } else {
      prepared.recorder.record(report, after, ids_, out, now);
    }
  }
}

// Takes one step over: its events after what was recorded before it, its notices, its effects.
void EngineImpl::add_step(Step step, Task& after, Prepared& prepared, Recording& out, bool& changed) {
  std::ranges::move(step.effects, std::back_inserter(prepared.effects));
  if (step.unchanged) return;
  changed = true;
  const Time now = wall();
  const bool over = step.turn_ended || step.after.run != after.run || step.after.phase != TurnPhase::working;
  if (over && after.phase == TurnPhase::working)
    prepared.recorder.close(out, now);
  else
    prepared.recorder.flush(out, now);
  const int from = std::to_underlying(after.state);
  const int to = std::to_underlying(step.after.state);
  after = std::move(step.after);
  std::ranges::move(step.events, std::back_inserter(out.events));
  if (from != to) move_batch(prepared, after.launch.batch_id, from, to);
  if (step.asked) add_notice(ask_notice(after, after.asks.back(), ids_.notice(), now), prepared, out);
  if (!step.turn_ended) return;

  Driver* const driver = driver_of(after);
  const std::string path = driver != nullptr && after.run > 0 ? driver->log_path(after.id, after.run) : std::string();
  if (at_work(after.state)) {
    // It completed, and a message that waited makes the next turn: the notice is about the one that ended.
    Task told = after;
    told.state = TaskState::completed;
    told.reason = "finished";
    told.turn -= 1;
    told.completed_at = now;
    add_notice(turn_notice(told, ids_.notice(), path, now), prepared, out);
    return;
  }
  add_notice(turn_notice(after, ids_.notice(), path, now), prepared, out);
  const auto batch = batches_.find(after.launch.batch_id);
  if (batch != batches_.end() && batch->second.counts.working() == 0)
    add_notice(batch_notice(after, batch->second.counts, ids_.notice(), now), prepared, out);
}

void EngineImpl::add_notice(Notice notice, Prepared& prepared, Recording& out) {
  Event event = notice_event(EventType::notice_created, notice.id, notice.created_at);
  // `end` stays the last.
  const bool ends = !out.events.empty() && out.events.back().type == EventType::end;
  out.events.insert(out.events.end() - (ends ? 1 : 0), std::move(event));
  if (notice.session_id) prepared.told.push_back(notice.session_id);
  prepared.commit.notices.push_back(std::move(notice));
}

void EngineImpl::move_batch(Prepared& prepared, const BatchId& id, int from, int to) {
  if (id.empty()) return;
  const auto batch = batches_.find(id);
  if (batch == batches_.end()) return;
  if (from >= 0) --batch->second.counts.by_state[from];
  if (to >= 0) ++batch->second.counts.by_state[to];
  prepared.batch_moves.push_back({id, {from, to}});
}

void EngineImpl::undo_batches(const Prepared& prepared) {
  for (const auto& [id, move] : prepared.batch_moves) {
    const auto batch = batches_.find(id);
    if (batch == batches_.end()) continue;
    if (move.first >= 0) ++batch->second.counts.by_state[move.first];
    if (move.second >= 0) --batch->second.counts.by_state[move.second];
  }
}

// Puts the commit together.
void EngineImpl::finish(Prepared& prepared, Task after, Recording out) {
  const Time now = wall();
  prepared.recorder.flush(out, now);
  Commit& commit = prepared.commit;
  commit.now = now;
  commit.task_id = after.id;
  commit.before_version = after.version;
  if (commit.remove) {
    move_batch(prepared, after.launch.batch_id, std::to_underlying(after.state), -1);
    commit.notices.clear();
    prepared.told.clear();
    return;
  }
  after.version += 1;
  for (Event& event : out.events) {
    event.task_id = after.id;
    event.seq = ++after.last_seq;
  }
  commit.events = std::move(out.events);
  std::ranges::move(out.messages, std::back_inserter(commit.messages));
  commit.sync_first = std::move(out.sync_first);
  prepared.texts = std::move(out.texts);
  prepared.after = std::make_shared<const Task>(std::move(after));
  commit.after = prepared.after;
}

void EngineImpl::stage(Prepared prepared) {
  staged_.push_back(std::move(prepared));
  schedule();
}

void EngineImpl::hand_over() {
  if (staged_.empty()) return;
  auto group = std::make_shared<std::vector<Prepared>>(std::move(staged_));
  staged_.clear();
  std::vector<Commit> commits;
  commits.reserve(group->size());
  // The events are needed afterwards, for their frames; the rest is the store's.
  for (Prepared& prepared : *group) commits.push_back(prepared.commit);
  under_way_ += static_cast<int64_t>(group->size());
  parts_.store.commit(std::move(commits),
                      [this, alive = std::weak_ptr(alive_), group](std::vector<Result<Committed>> results) {
                        if (alive.expired()) return;
                        ERRAND_CHECK(results.size() == group->size(), "the store answers every commit");
                        under_way_ -= static_cast<int64_t>(group->size());
                        for (size_t i = 0; i < group->size(); ++i)
                          committed(std::move((*group)[i]), std::move(results[i]));
                        all_->wake_readers();
                        schedule();
                      });
}

void EngineImpl::committed(Prepared prepared, Result<Committed> result) {
  if (result) {
    ++commits_;
    events_ += static_cast<int64_t>(prepared.commit.events.size());
    if (prepared.live) applied(prepared, *result);
  } else {
    undo_batches(prepared);
    if (prepared.live) failed(prepared, result.error());
  }
  if (prepared.done) prepared.done(std::move(result));
}

void EngineImpl::applied(Prepared& prepared, const Committed& committed) {
  const LivePtr live = prepared.live;
  live->busy = false;
  live->retry_at = Time{};
  if (prepared.commit.remove) {
    live->removed = true;
    slots_.remove(live->id);
    publish(prepared, committed);
    for (Action& action : std::exchange(live->inbox, {}))
      if (action.reply) action.reply(fail(Code::not_found, "The task was removed.", "deleted"));
    answer_actions(prepared);
    disarm_deadlines(*live);
    lives_.erase(live->id);
    ghosts_.emplace(live->id, live);
    perform(live, std::move(prepared.effects));
    if (!live->turn && !live->opening) ghost_gone(live);
    const auto waiters = waiting_for_task_.equal_range(live->id);
    std::vector<uint64_t> waiting;
    for (auto it = waiters.first; it != waiters.second; ++it) waiting.push_back(it->second);
    waiting_for_task_.erase(live->id);
    for (const uint64_t key : waiting) {
      auto node = result_waiters_.extract(key);
      if (node.empty()) continue;
      timers_.cancel(node.mapped().timer);
      node.mapped().reply(fail(Code::not_found, "The task was removed while you waited for it.", "deleted"));
    }
    for (const auto& [batch, move] : prepared.batch_moves) check_batch_waiters(batch);
    return;
  }
  const bool was_working = live->task && at_work(live->task->state);
  live->task = prepared.after;
  live->recorder = std::move(prepared.recorder);
  std::erase_if(live->messages, [&](const auto& body) {
    return std::ranges::find(live->task->waiting, body.first, &WaitingMessage::id) == live->task->waiting.end();
  });
  // What was just stored of a message is what a later `taken` starts from.
  for (const Message& message : prepared.commit.messages)
    if (const auto body = live->messages.find(message.id); body != live->messages.end()) body->second = message;
  publish(prepared, committed);
  settle_slot(*live);
  answer_actions(prepared);
  perform(live, std::move(prepared.effects));
  if (!at_work(live->task->state)) {
    if (live->task->phase == TurnPhase::ended) disarm_deadlines(*live);
    if (live->task->expires_at && (!next_expiry_ || live->task->expires_at < next_expiry_)) {
      next_expiry_ = live->task->expires_at;
      arm_retention();
    }
    if (was_working || prepared.created) {
      // The waiters read the result as everybody does.
      std::vector<uint64_t> waiting;
      const auto waiters = waiting_for_task_.equal_range(live->id);
      for (auto it = waiters.first; it != waiters.second; ++it) waiting.push_back(it->second);
      waiting_for_task_.erase(live->id);
      for (const uint64_t key : waiting) {
        auto node = result_waiters_.extract(key);
        if (node.empty()) continue;
        timers_.cancel(node.mapped().timer);
        result(live->id, 0, std::move(node.mapped().reply));
      }
    }
  }
  for (const auto& [batch, move] : prepared.batch_moves) check_batch_waiters(batch);
  for (const SessionId& session : prepared.told) wake_notice_waiters(session);
  if (!live->inbox.empty()) to_pump_.push_back(live);
  evict(live);
}

// The store would not take it: callers are told, the engine's own actions wait for another try.
void EngineImpl::failed(Prepared& prepared, const Error& error) {
  const LivePtr live = prepared.live;
  live->busy = false;
  if (prepared.created) {
    slots_.release(live->id);
    lives_.erase(live->id);
    return;
  }
  log_warning("engine", "commit of " + live->id.value + " refused: " + error.message);
  std::deque<Action> again;
  for (Action& action : prepared.actions) {
    if (action.reply)
      action.reply(std::unexpected(error));
    else
      again.push_back(std::move(action));
  }
  std::ranges::move(live->inbox, std::back_inserter(again));
  live->inbox = std::move(again);
  live->retry_at = steady() + store_retry_ms;
  if (!live->inbox.empty()) to_pump_.push_back(live);
  evict(live);
}

void EngineImpl::answer_actions(Prepared& prepared) {
  for (size_t i = 0; i < prepared.actions.size(); ++i) {
    Action& action = prepared.actions[i];
    if (!action.reply) continue;
    if (prepared.refused[i])
      action.reply(std::unexpected(*prepared.refused[i]));
    else if (prepared.live->task)
      action.reply(*prepared.live->task);
  }
}

void EngineImpl::publish(Prepared& prepared, const Committed& committed) {
  const TaskId& id = prepared.live->id;
  std::shared_ptr<Feed> feed;
  if (const auto known = feeds_.find(id); known != feeds_.end()) {
    feed = known->second.lock();
    if (!feed) feeds_.erase(known);
  }
  const bool watched = all_->read_by_anybody();
  if (prepared.commit.remove) {
    const FramePtr frame = make_gone_frame({.task_id = id,
                                            .parent_session_id = prepared.live->task->launch.parent_session_id,
                                            .why = *prepared.commit.remove,
                                            .at = prepared.commit.now,
                                            .pos = committed.first_pos});
    if (feed) {
      feed->publish(frame);
      feed->wake_readers();
    }
    if (watched)
      all_->publish(frame);
    else
      all_->start_at(0, committed.first_pos);
    return;
  }
  if (prepared.commit.events.empty()) return;
  for (size_t i = 0; i < prepared.commit.events.size(); ++i) {
    Event& event = prepared.commit.events[i];
    event.pos = committed.first_pos + static_cast<int64_t>(i);
    if (!feed && !watched) continue;
    if (parts_.faults.skip_frame && parts_.faults.skip_frame(event)) continue;
    const auto text = prepared.texts.find(i);
    const FramePtr frame = make_frame(event, text == prepared.texts.end() ? std::string_view() : text->second);
    if (feed) feed->publish(frame);
    if (watched) all_->publish(frame);
  }
  if (!watched) all_->start_at(0, prepared.commit.events.back().pos);
  if (feed) feed->wake_readers();
}

// A slot is held exactly while a turn of the task really works; a turn in line has its place.
void EngineImpl::settle_slot(const Live& live) {
  const Task& task = *live.task;
  const Launch& launch = task.launch;
  if (task.phase == TurnPhase::queued) {
    // Its slot is reserved already, and the start waits behind what was just stored.
    const auto starts = [](const Action& action) { return std::holds_alternative<input::Start>(action.input); };
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
  if (holds_slot(task))
    slots_.hold(task.id, launch.agent_id, launch.model);
  else if (!parts_.faults.keep_slot || !slots_.holds(task.id) || !parts_.faults.keep_slot(task.id))
    slots_.release(task.id);
}

void EngineImpl::start_queued() {
  if (draining_ || recovering_) return;
  while (std::optional<TaskId> id = slots_.next()) submit(*id, {.input = input::Start{}});
}

void EngineImpl::evict(const LivePtr& live) {
  if (!live->task || live->busy || live->loading || !live->inbox.empty() || live->turn || live->opening) return;
  if (live->task->phase == TurnPhase::working) return;
  if (live->task->phase == TurnPhase::queued && lives_.size() <= lives_kept) return;
  lives_.erase(live->id);
}

bool EngineImpl::overloaded() const { return under_way_ + static_cast<int64_t>(staged_.size()) > settings_.inbox_max; }

std::unexpected<Error> EngineImpl::busy_error() const {
  if (draining_) return fail(Code::unavailable, "The server is stopping; try again in a moment.", "stopping");
  return fail(Code::exhausted, "Too many requests wait to be stored; try again in a second.");
}

TaskMoment EngineImpl::moment(const Task& task) const {
  TaskMoment moment{.now = parts_.clock.wall()};
  if (task.phase == TurnPhase::queued) moment.queue_position = slots_.position(task.id);
  return moment;
}

Health EngineImpl::health() const {
  Health health;
  health.running = slots_.running();
  health.queued = slots_.queued();
  for (const auto& [id, live] : lives_) health.working += live->task && live->task->phase == TurnPhase::working;
  health.inbox = under_way_ + static_cast<int64_t>(staged_.size());
  health.streams = static_cast<int64_t>(all_->reader_count());
  for (const auto& [id, feed] : feeds_)
    if (const auto held = feed.lock()) health.streams += static_cast<int64_t>(held->reader_count());
  health.commits = commits_;
  health.events = events_;
  health.recovering = recovering_;
  health.draining = draining_;
  return health;
}

std::shared_ptr<Feed> EngineImpl::feed(const TaskId& id) {
  std::weak_ptr<Feed>& known = feeds_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    if (const LivePtr live = find_live(id); live && live->task) feed->start_at(live->task->last_seq, 0);
    known = feed;
  }
  return feed;
}

std::shared_ptr<Feed> EngineImpl::session_feed(const SessionId& id) {
  std::weak_ptr<Feed>& known = session_feeds_[id];
  std::shared_ptr<Feed> feed = known.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    known = feed;
  }
  return feed;
}

std::vector<FramePtr> EngineImpl::frames(const std::vector<Event>& events) const {
  std::vector<FramePtr> out;
  out.reserve(events.size());
  for (const Event& event : events) {
    std::string text;
    if (event.type == EventType::output) {
      // Only commands print; their driver reads the log.
      const auto driver = parts_.drivers.find("command");
      const Result<OutputRange> range = decode_output(event.data);
      if (driver != parts_.drivers.end() && range) {
        const auto limit = std::min<int64_t>(range->length, output_text_max);
        if (Result<LogRead> log = driver->second->read_log(event.task_id, range->run, range->offset, limit))
          for (LogPiece& piece : log->pieces)
            if (piece.offset < range->offset + range->length) text += piece.bytes;
      }
    }
    out.push_back(make_frame(event, text));
  }
  return out;
}

FramePtr EngineImpl::gone_frame(const Tombstone& gone) const { return make_gone_frame(gone); }

void EngineImpl::drain(Reply<void> reply) {
  draining_ = true;
  drained_ = std::move(reply);
  dismiss_waiters();
  schedule();
}

void EngineImpl::dismiss_waiters() {
  const auto dismiss = [this](auto& waiter) {
    timers_.cancel(waiter.timer);
    answer_later(std::move(waiter.reply), busy_error());
  };
  waiting_for_task_.clear();
  for (auto& [key, waiter] : std::exchange(result_waiters_, {})) dismiss(waiter);
  for (auto& [id, batch] : batches_)
    for (BatchWaiter& waiter : std::exchange(batch.waiters, {})) dismiss(waiter);
  for (auto& [id, waiters] : std::exchange(notice_waiters_, {}))
    for (const std::shared_ptr<NoticeWaiter>& waiter : waiters) dismiss(*waiter);
}

Reply<Task> EngineImpl::as_view(Reply<TaskView> reply) {
  return [this, reply = std::move(reply)](Result<Task> task) mutable {
    if (task)
      reply(view(*task));
    else
      reply(std::unexpected(task.error()));
  };
}

}  // namespace errand
