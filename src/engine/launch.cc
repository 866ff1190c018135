// Launching: what the launch leaves open is filled in, then the task is stored, begun at once where a slot is free.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine_impl.h"
#include "engine/find_session.h"
#include "task/json_in.h"

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

// The agent's rules stand behind the launch's own.
void add_rules(std::vector<PermissionRule>& asked, const std::vector<PermissionRule>& usual) {
  asked.insert(asked.end(), usual.begin(), usual.end());
}

void fill_in(Budget& asked, const Budget& usual) {
  if (asked.tokens == 0) asked.tokens = usual.tokens;
  if (asked.cost_usd == 0) asked.cost_usd = usual.cost_usd;
  if (asked.turns == 0) asked.turns = usual.turns;
  if (asked.tool_calls == 0) asked.tool_calls = usual.tool_calls;
  if (asked.wall_ms == 0) asked.wall_ms = usual.wall_ms;
}

}  // namespace

Driver* EngineImpl::driver_of(const Task& task) const {
  const std::shared_ptr<const Agent> agent = find_agent(task.launch.agent_id);
  if (agent == nullptr) return nullptr;
  const auto driver = parts_.drivers.find(agent->driver);
  return driver == parts_.drivers.end() ? nullptr : driver->second;
}

Status EngineImpl::complete_launch(Launch& launch) const {
  const bool command = launch.kind == TaskKind::command;
  if (command) launch.agent_id = "command";
  const std::shared_ptr<const Agent> agent = find_agent(launch.agent_id);
  if (agent == nullptr || (agent->driver == "command") != command) {
    std::string known;
    for (const auto& a : agents_)
      if (a->driver != "command" && a->unavailable.empty()) known += (known.empty() ? "" : ", ") + a->id;
    return fail(Code::not_found, fmt::format("There is no agent \"{}\"; this server has: {}.", launch.agent_id, known),
                "unknown_agent");
  }
  if (!agent->unavailable.empty())
    return fail(Code::unsupported,
                fmt::format("The agent \"{}\" cannot be used here: {}", agent->id, agent->unavailable),
                "agent_unavailable");
  launch.agent_id = agent->id;
  launch.agent = agent->name == agent->id ? "" : agent->name;
  if (launch.model.empty()) launch.model = agent->model;
  if (!launch.permission) launch.permission = agent->permission;
  add_rules(launch.permission_rules, agent->permission_rules);
  fill_in(launch.budget, agent->budget);
  if (agent->enable_skills) launch.enable_skills = true;
  if (agent->enable_mcp) launch.enable_mcp = true;
  if (launch.work_dir.empty()) launch.work_dir = settings_.default_work_dir;
  if (launch.timeout_ms == 0) launch.timeout_ms = command ? settings_.command_timeout_ms : -1;
  if (launch.idle_timeout_ms == 0)
    launch.idle_timeout_ms = settings_.idle_timeout_ms > 0 ? settings_.idle_timeout_ms : -1;
  if (launch.max_restarts == 0) launch.max_restarts = settings_.max_restarts;
  if (launch.retention_ms == 0) launch.retention_ms = settings_.retention_ms > 0 ? settings_.retention_ms : -1;
  if (launch.limits.output_bytes == 0) launch.limits.output_bytes = agent->limits.output_bytes;
  if (launch.limits.output_bytes == 0) launch.limits.output_bytes = settings_.output_limit;
  fill_in(launch.limits, command ? settings_.command_limits : agent->limits);
  if (launch.authorize_over_limit && !settings_.allow_over_limit)
    return fail(Code::forbidden,
                "This server does not let a launch go over its limit of tasks at work (setting allow_over_limit).");
  const auto found = parts_.drivers.find(agent->driver);
  if (found == parts_.drivers.end()) return fail(Code::unsupported, "The driver of this agent is not available here.");
  if (launch.fork && !found->second->capabilities().fork)
    return fail(Code::unsupported,
                fmt::format("The agent \"{}\" cannot take over a parent's conversation (fork).", agent->id));
  return found->second->check(launch);
}

Message EngineImpl::user_message(const SessionId& session, int turn, const NewMessage& message) {
  Message out;
  out.id = ids_.message();
  out.session_id = session;
  out.role = Role::user;
  out.turn = turn;
  out.created_at = wall();
  if (!message.content.empty()) {
    if (Result<std::vector<Part>> parts = decode_parts(message.content)) out.parts = std::move(*parts);
  } else {
    out.parts.push_back({.type = PartType::text, .text = message.text});
  }
  return out;
}

void EngineImpl::launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  reply = charged(std::move(reply), weight(launch));
  if (key.empty()) return launch_under(std::move(launch), {}, {}, std::move(reply));

  const auto mismatch = [] {
    return fail(Code::conflict, "This Idempotency-Key was used for another request; use a new key for a new task.",
                "idempotency_key");
  };
  // The same request is under way: both get the one task.
  if (const auto known = keys_.find(key); known != keys_.end()) {
    if (known->second.fingerprint != fingerprint) return answer_later(std::move(reply), mismatch());
    known->second.repeats.push_back(std::move(reply));
    return;
  }
  keys_.emplace(key, KeyUnderWay{fingerprint, {}});
  read([key](Store& store) { return store.find_key(key); },
       [this, key, fingerprint, mismatch, launch = std::move(launch),
        reply = std::move(reply)](Result<std::optional<Commit::Key>> stored) mutable {
         const auto settle = [this, key](const std::function<void(Reply<TaskView>&)>& each) {
           auto node = keys_.extract(key);
           if (!node.empty())
             for (Reply<TaskView>& repeat : node.mapped().repeats) each(repeat);
         };
         if (!stored) {
           settle([&](Reply<TaskView>& repeat) { repeat(std::unexpected(stored.error())); });
           return reply(std::unexpected(stored.error()));
         }
         if (!*stored) return launch_under(std::move(launch), key, fingerprint, std::move(reply));
         if ((*stored)->fingerprint != fingerprint) {
           settle([&](Reply<TaskView>& repeat) { repeat(mismatch()); });
           return reply(mismatch());
         }
         const TaskId id = (*stored)->task_id;
         settle([&](Reply<TaskView>& repeat) { get(id, std::move(repeat)); });
         get(id, std::move(reply));
       });
}

// What the launch may do depends on the task that launches it, where one does.
void EngineImpl::launch_under(Launch&& launch, std::string key, std::string fingerprint, Reply<TaskView> reply) {
  // Everybody who sent this request under this key gets the same answer.
  if (!key.empty())
    reply = [this, key, first = std::move(reply)](Result<TaskView> result) mutable {
      auto node = keys_.extract(key);
      if (!node.empty())
        for (Reply<TaskView>& repeat : node.mapped().repeats) repeat(result);
      first(std::move(result));
    };
  with_parent(std::move(launch), [this, key = std::move(key), fingerprint = std::move(fingerprint),
                                  answer = std::move(reply)](Result<Launch> bound) mutable {
    if (!bound) return answer(std::unexpected(bound.error()));
    if (Status complete = complete_launch(*bound); !complete)
      return answer_later(std::move(answer), std::unexpected(complete.error()));
    const auto launch = std::make_shared<Launch>(std::move(*bound));
    look_at(*launch, [this, launch, key = std::move(key), fingerprint = std::move(fingerprint),
                      answer = std::move(answer)](Status found) mutable {
      if (found && draining_) found = busy_error();
      if (!found) return answer(std::unexpected(found.error()));
      launch_now(std::move(*launch), std::move(key), std::move(fingerprint), std::move(answer));
    });
  });
}

void EngineImpl::look_at(const Launch& launch, std::move_only_function<void(Status)> then) {
  const std::shared_ptr<const Agent> agent = find_agent(launch.agent_id);
  Driver::Look look = parts_.drivers.at(agent->driver)->look(launch);
  if (!look) return then({});
  looks_.look(agent->driver, launch, std::move(look), std::move(then));
}

void EngineImpl::launch_now(Launch&& launch, std::string key, std::string fingerprint, Reply<TaskView> answer,
                            std::optional<fork::Prepared> inherited) {
  if (launch.fork && !inherited)
    return inherit(launch,
                   [this, launch, key, fingerprint, answer = std::move(answer)](Result<fork::Prepared> read) mutable {
                     if (!read) return answer(std::unexpected(read.error()));
                     launch_now(std::move(launch), key, fingerprint, std::move(answer), std::move(*read));
                   });
  const SessionId parent = launch.parent_session_id;
  // Since its parent was looked at, a folder, a conversation or a batch may have been read (then this is come to
  // again): it would be made anew here.
  if (launch.ancestors.empty() && parents_.has_ended(parent))
    return answer_later(std::move(answer), session_ended(parent));
  if (launch.batch_id.value == "new") {
    launch.batch_id = ids_.batch();
    batches_.add(launch.batch_id);
  } else if (launch.batch_id && !batches_.knows(launch.batch_id)) {
    const BatchId batch = launch.batch_id;
    return with_batch(batch, [this, launch = std::move(launch), key, fingerprint, answer = std::move(answer),
                              inherited = std::move(inherited)](Status known) mutable {
      if (!known) return answer(std::unexpected(known.error()));
      launch_now(std::move(launch), key, fingerprint, std::move(answer), std::move(inherited));
    });
  }

  if (parent && launch.ancestors.empty() && !parents_.knows(parent)) {
    Prepared known;
    known.commit.now = wall();
    known.commit.session = Session{.id = parent, .origin = "rest", .created_at = wall()};
    known.done = [this, parent](Result<Committed> stored) {
      if (stored && !parents_.has_ended(parent)) parents_.remember(parent);
    };
    stage(std::move(known));
  }

  const Time now = wall();
  const bool agent = launch.kind == TaskKind::agent;
  const SessionId session = ids_.session();
  std::optional<Message> first;
  if (agent) first = user_message(session, 1, {.text = launch.prompt, .content = launch.content});
  const LivePtr live = std::make_shared<Live>(ids_.task());
  Step step = create(std::move(launch), live->id, session, first ? first->id : MessageId(), now);
  Task after = std::move(step.after);

  Prepared prepared;
  prepared.live = live;
  prepared.created = true;
  prepared.commit.session = own_session(after);
  Recording out;
  out.events = std::move(step.events);
  if (inherited)
    for (Message& message : inherited_messages(std::move(*inherited), session, now))
      prepared.recorder.add_message(std::move(message), out, now);
  if (first) {
    prepared.recorder.add_message(std::move(*first), out, now);
    live->messages.emplace(out.messages.back().id, out.messages.back());
  }
  // Where a slot is free it begins with its creation: one commit.
  const Launch& asked = after.launch;
  if (!draining_ && (asked.authorize_over_limit || slots_.has_room(asked.agent_id, asked.model))) {
    slots_.hold(live->id, asked.agent_id, asked.model);
    if (Result<Step> started = decide(after, input::Start{}, now)) {
      after = std::move(started->after);
      std::ranges::move(started->events, std::back_inserter(out.events));
      std::ranges::move(started->effects, std::back_inserter(prepared.effects));
    }
  }
  batches_.move(prepared.batch_moves, after.launch.batch_id, {}, BatchPlace::of(after));
  if (!key.empty()) prepared.commit.key = Commit::Key{key, fingerprint, live->id};
  finish(prepared, std::move(after), std::move(out));
  prepared.commit.before_version = 0;
  if (parent) parents_.birth(parent);
  prepared.done = [this, live, parent, answer = std::move(answer)](Result<Committed> stored) mutable {
    if (parent) parents_.born(parent);
    if (!stored) return answer(std::unexpected(stored.error()));
    answer(view(live->task));
  };
  live->busy = true;
  lives_.emplace(live->id, live);
  stage(std::move(prepared));
  // Many at once: the disk begins with the first ones while the others are still being read.
  if (staged_.size() >= launches_at_once) hand_over();
}

}  // namespace errand
