#include "engine/launching.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/find_session.h"

namespace errand {
namespace {

constexpr size_t launches_at_once = 8;

Session own_session(const Task& task) {
  return {
      .id = task.session_id, .task_id = task.id, .origin = "task", .title = task.title, .created_at = task.created_at};
}

void fill_in(Limits& asked, const Limits& usual) {
  for (int64_t Limits::* limit : {&Limits::cpu_s, &Limits::memory_bytes, &Limits::processes, &Limits::open_files})
    if (asked.*limit == 0) asked.*limit = usual.*limit;
  if (asked.nice == 0) asked.nice = usual.nice;
}

void fill_in(Budget& asked, const Budget& usual) {
  if (asked.tokens == 0) asked.tokens = usual.tokens;
  if (asked.cost_usd == 0) asked.cost_usd = usual.cost_usd;
  if (asked.turns == 0) asked.turns = usual.turns;
  if (asked.tool_calls == 0) asked.tool_calls = usual.tool_calls;
  if (asked.wall_ms == 0) asked.wall_ms = usual.wall_ms;
}

// What the launch leaves open is the agent's, or the server's.
void fill_in(Launch& launch, const Agent& agent, const EngineSettings& settings) {
  const bool command = launch.kind == TaskKind::command;
  launch.agent_id = agent.id;
  launch.agent = agent.name == agent.id ? "" : agent.name;
  if (launch.model.empty()) launch.model = agent.model;
  if (!launch.permission) launch.permission = agent.permission;
  // The agent's rules stand behind the launch's own.
  launch.permission_rules.insert(launch.permission_rules.end(), agent.permission_rules.begin(),
                                 agent.permission_rules.end());
  fill_in(launch.budget, agent.budget);
  if (agent.enable_skills) launch.enable_skills = true;
  if (agent.enable_mcp) launch.enable_mcp = true;
  if (launch.work_dir.empty()) launch.work_dir = settings.default_work_dir;
  // What a task launches works where that task works, and a command in its folder, unless they ask for more.
  if (!command && launch.ancestors.empty() && launch.isolate == Isolate::unset) {
    launch.isolate = agent.isolate;
    if (launch.isolate == Isolate::unset && settings.isolate == "worktree") launch.isolate = Isolate::worktree;
  }
  if (launch.isolate == Isolate::worktree && launch.isolate_base == IsolateBase::unset) {
    launch.isolate_base = agent.isolate_base;
    if (launch.isolate_base == IsolateBase::unset)
      launch.isolate_base = settings.isolate_base == "dirty" ? IsolateBase::dirty : IsolateBase::head;
  }
  if (launch.isolate == Isolate::worktree && launch.isolate_setup.empty())
    launch.isolate_setup = agent.isolate_setup.empty() ? settings.isolate_setup : agent.isolate_setup;
  // A person who starts something knows what it is, and is there to end it (R14.2).
  const bool person = (launch.surface == Surface::cli || launch.surface == Surface::page) && launch.ancestors.empty();
  if (launch.timeout_ms == 0) launch.timeout_ms = command && !person ? settings.command_timeout_ms : -1;
  if (launch.idle_timeout_ms == 0)
    launch.idle_timeout_ms = settings.idle_timeout_ms > 0 ? settings.idle_timeout_ms : -1;
  if (launch.max_restarts == 0) launch.max_restarts = settings.max_restarts;
  if (launch.retention_ms == 0) launch.retention_ms = settings.retention_ms > 0 ? settings.retention_ms : -1;
  if (launch.limits.output_bytes == 0) launch.limits.output_bytes = agent.limits.output_bytes;
  if (launch.limits.output_bytes == 0) launch.limits.output_bytes = settings.output_limit;
  fill_in(launch.limits, command ? settings.command_limits : agent.limits);
}

std::unexpected<Error> other_request() {
  return fail(Code::conflict, "This Idempotency-Key was used for another request; use a new key for a new task.",
              "idempotency_key");
}

}  // namespace

const std::array<Launching::StepFunction, 7> Launching::steps = {
    &Launching::find_key, &Launching::bind_parent, &Launching::complete, &Launching::look,
    &Launching::inherit,  &Launching::know_batch,  &Launching::commit,
};

Launching::Launching(Rooms rooms)
    : shared_(rooms.shared),
      commits_(rooms.commits),
      lives_(rooms.lives),
      decisions_(rooms.decisions),
      slots_(rooms.slots),
      batches_(rooms.batches),
      agents_(rooms.agents),
      looks_(rooms.looks),
      parents_(rooms.parents),
      subtree_(rooms.subtree),
      forks_(rooms.forks),
      views_(rooms.views) {}

void Launching::launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  reply = commits_.charged(std::move(reply), weight(launch));
  // The same request is under way: both get the one task.
  if (const auto known = keys_.find(key); !key.empty() && known != keys_.end()) {
    if (known->second.fingerprint != fingerprint) return shared_.answer_later(std::move(reply), other_request());
    known->second.repeats.push_back(std::move(reply));
    return;
  }
  if (!key.empty()) keys_.emplace(key, KeyUnderWay{fingerprint, {}});
  go_on(std::make_shared<Way>(std::move(launch), std::move(key), std::move(fingerprint), std::move(reply)), {});
}

void Launching::check(Launch launch, Reply<void> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  launch.batch_id = BatchId("new");  // What is known of a batch is read for those who join it.
  const WayPtr way = std::make_shared<Way>(std::move(launch));
  way->checked = std::move(reply);
  go_on(way, {});
}

void Launching::go_on(const WayPtr& way, Status so_far) {
  while (so_far) {
    if (way->checked && way->next + 1 == steps.size()) break;
    Stepped stepped = (this->*steps[way->next++])(way);
    if (!stepped) {
      way->waited = true;
      return;
    }
    so_far = std::move(*stepped);
  }
  // A call is answered later, never inside it.
  if (way->waited) return leave(way, std::move(so_far));
  shared_.later([this, way, so_far] { leave(way, so_far); });
}

void Launching::leave(const WayPtr& way, Status status) {
  if (way->checked) return way->checked(std::move(status));
  answer(way, std::unexpected(status.error()));
}

void Launching::answer(const WayPtr& way, const Result<TaskView>& result) {
  if (!way->key.empty())
    if (auto node = keys_.extract(way->key); !node.empty())
      for (Reply<TaskView>& repeat : node.mapped().repeats) repeat(result);
  way->reply(result);
}

Launching::Stepped Launching::find_key(const WayPtr& way) {
  if (way->key.empty()) return Status();
  shared_.read([key = way->key](Store& store) { return store.find_key(key); },
               [this, way](Result<std::optional<Commit::Key>> stored) {
                 if (!stored) return go_on(way, std::unexpected(stored.error()));
                 if (!*stored) return go_on(way, {});
                 if ((*stored)->fingerprint != way->fingerprint) return go_on(way, other_request());
                 views_.get((*stored)->task_id, [this, way](Result<TaskView> made) { answer(way, made); });
               });
  return std::nullopt;
}

Launching::Stepped Launching::bind_parent(const WayPtr& way) {
  if (!subtree_.may_be_bound(way->launch)) {
    way->launch.bounds.clear();
    return Status();
  }
  subtree_.bind(way->launch, [this, way](Status bound) { go_on(way, std::move(bound)); });
  return std::nullopt;
}

Launching::Stepped Launching::complete(const WayPtr& way) {
  Launch& launch = way->launch;
  const bool command = launch.kind == TaskKind::command;
  if (command) launch.agent_id = "command";
  const std::shared_ptr<const Agent> agent = agents_.find(launch.agent_id);
  if (agent == nullptr || (agent->driver == "command") != command)
    return fail(Code::not_found,
                fmt::format("There is no agent \"{}\"; this server has: {}.", launch.agent_id, agents_.usable()),
                "unknown_agent");
  if (!agent->unavailable.empty())
    return fail(Code::unsupported, fmt::format("The agent \"{}\" is not available: {}", agent->id, agent->unavailable),
                "agent_unavailable");
  fill_in(launch, *agent, shared_.settings);
  if (launch.authorize_over_limit && !shared_.settings.allow_over_limit)
    return fail(Code::forbidden, "authorize_over_limit is not allowed on this server (setting allow_over_limit).");
  Driver* const driver = agents_.driver(agent->driver);
  if (driver == nullptr) return fail(Code::unsupported, "The driver of this agent is not available here.");
  if (launch.fork && !driver->capabilities().fork)
    return fail(Code::unsupported,
                fmt::format("The agent \"{}\" cannot start from a copied conversation (fork).", agent->id));
  way->granted = agent->granted;
  way->driver = agent->driver;
  return driver->check(launch);
}

Launching::Stepped Launching::look(const WayPtr& way) {
  Driver::Look look = agents_.driver(way->driver)->look(way->launch);
  if (!look) return Status();
  looks_.look(way->driver, way->launch, std::move(look), [this, way](Status found) { go_on(way, std::move(found)); });
  return std::nullopt;
}

Launching::Stepped Launching::inherit(const WayPtr& way) {
  if (!way->launch.fork) return Status();
  forks_.inherit(way->launch, [this, way](Result<fork::Prepared> inherited) {
    if (!inherited) return go_on(way, std::unexpected(inherited.error()));
    way->inherited = std::move(*inherited);
    go_on(way, {});
  });
  return std::nullopt;
}

// The counts of a batch with a task at work are in memory; others are read when they are needed.
Launching::Stepped Launching::know_batch(const WayPtr& way) {
  const BatchId& batch = way->launch.batch_id;
  if (batch.empty() || batch.value == "new" || batches_.knows(batch)) return Status();
  shared_.read([batch](Store& store) { return read_batch(store, batch); },
               [this, way](Result<StoredBatch> stored) {
                 if (!stored) return go_on(way, std::unexpected(stored.error()));
                 batches_.add(way->launch.batch_id, std::move(*stored));
                 go_on(way, {});
               });
  return std::nullopt;
}

Launching::Stepped Launching::commit(const WayPtr& way) {
  if (shared_.draining) return commits_.refusal();
  Launch& launch = way->launch;
  const SessionId parent = launch.parent_session_id;
  // Since its parent was looked at, a folder, a conversation or a batch may have been read: it would be made anew here.
  if (launch.ancestors.empty() && parents_.has_ended(parent)) return session_ended(parent);
  if (launch.batch_id.value == "new") {
    launch.batch_id = shared_.ids.batch();
    batches_.add(launch.batch_id);
  }
  if (parent && launch.ancestors.empty() && !parents_.knows(parent)) introduce(parent);

  const Time now = shared_.wall();
  const SessionId session = shared_.ids.session();
  std::optional<Message> first;
  if (launch.kind == TaskKind::agent)
    first = user_message(shared_, session, 1, {.text = launch.prompt, .content = launch.content});
  const LivePtr live = std::make_shared<Live>(shared_.ids.task());
  Step step = create(std::move(launch), live->id, session, first ? first->id : MessageId(), now);
  Task task = std::move(step.after);
  task.granted = std::move(way->granted);

  Prepared prepared;
  prepared.live = live;
  prepared.created = true;
  prepared.commit.session = own_session(task);
  Recording out;
  out.events = std::move(step.events);
  for (Message& message : forks_.copies(std::move(way->inherited), session, now))
    prepared.recorder.add_message(std::move(message), out, now);
  if (first) {
    prepared.recorder.add_message(std::move(*first), out, now);
    live->messages.emplace(out.messages.back().id, out.messages.back());
  }
  begin_at_once(task, prepared, out);
  batches_.move(prepared.batch_moves, task.launch.batch_id, {}, BatchPlace::of(task));
  if (!way->key.empty()) prepared.commit.key = Commit::Key{way->key, way->fingerprint, live->id};
  decisions_.finish(prepared, std::move(task), std::move(out));
  prepared.commit.before_version = 0;
  if (parent) parents_.birth(parent);
  prepared.done = [this, live, parent, way](Result<Committed> stored) {
    if (parent) parents_.born(parent);
    if (!stored) return answer(way, std::unexpected(stored.error()));
    answer(way, views_.of(live->task));
  };
  live->busy = true;
  lives_.add(live);
  commits_.stage(std::move(prepared));
  // Many at once: the disk begins with the first ones while the others are still being read.
  if (commits_.staged() >= launches_at_once) commits_.hand_over();
  return std::nullopt;
}

// A parent that is no task's session is made with its first task.
void Launching::introduce(const SessionId& parent) {
  Commit commit;
  commit.session = Session{.id = parent, .origin = "rest", .created_at = shared_.wall()};
  commits_.store(std::move(commit), [this, parent](const Result<Committed>& stored) {
    if (stored && !parents_.has_ended(parent)) parents_.remember(parent);
  });
}

// Where a slot is free it begins with its creation: one commit.
void Launching::begin_at_once(Task& task, Prepared& prepared, Recording& out) {
  const Launch& launch = task.launch;
  if (!launch.authorize_over_limit && !slots_.has_room(launch.agent_id, launch.model)) return;
  slots_.hold(task.id, launch.agent_id, launch.model);
  Result<Step> started = decide(task, input::Start{}, shared_.wall());
  if (!started) return;
  task = std::move(started->after);
  task.checkpoint = agents_.first_mark(task);
  std::ranges::move(started->events, std::back_inserter(out.events));
  std::ranges::move(started->effects, std::back_inserter(prepared.effects));
}

}  // namespace errand
