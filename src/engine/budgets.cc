// Budgets (R4.4). A task's budget is shared with the tasks that it launches: what each of them has used is counted in
// the purse of everybody who pays for it. Whoever uses something while a purse is empty is ended, with code `budget`.
//
// A purse is derived: it is read from the store when a turn of somebody who pays into it begins, and followed from
// there. The numbers are totals of each member, which only grow: reading and following cannot count anything twice.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine_impl.h"

namespace errand {
namespace {

Purse::Spent spent_by(const Task& task) {
  return {.tokens = task.progress.usage.input_tokens + task.progress.usage.output_tokens,
          .cost_usd = task.progress.usage.cost_usd,
          .turns = task.progress.turns,
          .tool_calls = task.progress.tool_calls};
}

// True where it is more than was known.
bool raise(Purse::Spent& known, const Purse::Spent& now) {
  const Purse::Spent before = known;
  known.tokens = std::max(known.tokens, now.tokens);
  known.cost_usd = std::max(known.cost_usd, now.cost_usd);
  known.turns = std::max(known.turns, now.turns);
  known.tool_calls = std::max(known.tool_calls, now.tool_calls);
  return known != before;
}

std::vector<TaskId> payers_of(const Task& task) {
  std::vector<TaskId> payers = task.launch.payers;
  if (task.launch.budget != Budget{}) payers.insert(payers.begin(), task.id);
  return payers;
}

TaskError exceeded(const Purse& purse, std::string_view what, const std::string& used, const std::string& limit) {
  const bool shared = purse.members.size() > 1;
  return {"budget",
          fmt::format("{} used {} {} of the {} of the budget; retry with a larger one, or in smaller steps.",
                      shared ? "It and the tasks that it is with have" : "It has", used, what, limit),
          fmt::format(R"({{"budget":"{}","limit":{},"used":{}}})", what, limit, used)};
}

// All that was used under one payer: its own and its descendants'.
Status add_members(Store& store, const Task& task, Purse& purse, size_t depth) {
  raise(purse.members[task.id], spent_by(task));
  if (depth == 0) return {};
  Result<std::vector<TaskId>> children = store.tasks_of_parent(task.session_id);
  if (!children) return std::unexpected(children.error());
  for (const TaskId& id : *children) {
    const Result<Task> child = store.get(id);
    if (!child && child.error().code == Code::not_found) continue;
    if (!child) return std::unexpected(child.error());
    if (const Status added = add_members(store, *child, purse, depth - 1); !added) return added;
  }
  return {};
}

}  // namespace

std::optional<TaskError> over_budget(const Purse& purse) {
  Purse::Spent all;
  for (const auto& [id, spent] : purse.members) {
    all.tokens += spent.tokens;
    all.cost_usd += spent.cost_usd;
    all.turns += spent.turns;
    all.tool_calls += spent.tool_calls;
  }
  const Budget& limit = purse.limit;
  const auto count = [&](std::string_view what, int64_t used, int64_t most) -> std::optional<TaskError> {
    if (most <= 0 || used <= most) return std::nullopt;
    return exceeded(purse, what, std::to_string(used), std::to_string(most));
  };
  if (auto over = count("tokens", all.tokens, limit.tokens)) return over;
  if (auto over = count("turns", all.turns, limit.turns)) return over;
  if (auto over = count("tool_calls", all.tool_calls, limit.tool_calls)) return over;
  if (limit.cost_usd > 0 && all.cost_usd > limit.cost_usd)
    return exceeded(purse, "cost_usd", fmt::format("{:.6g}", all.cost_usd), fmt::format("{:.6g}", limit.cost_usd));
  return std::nullopt;
}

Result<std::vector<Purse>> read_purses(Store& store, const Task& task) {
  std::vector<Purse> purses;
  for (const TaskId& id : payers_of(task)) {
    const Result<Task> payer = store.get(id);
    if (!payer && payer.error().code == Code::not_found) continue;  // It was removed; what it paid for is being, too.
    if (!payer) return std::unexpected(payer.error());
    Purse& purse = purses.emplace_back(Purse{.payer = id, .limit = payer->launch.budget});
    purse.began = payer->resume_count == 0 ? payer->started_at : Time{};
    if (const Status added = add_members(store, *payer, purse, depth_max); !added)
      return std::unexpected(added.error());
  }
  return purses;
}

void EngineImpl::open_purses(const LivePtr& live, std::vector<Purse> read) {
  for (Purse& purse : read) {
    Purse& known = purses_.try_emplace(purse.payer, Purse{.payer = purse.payer}).first->second;
    known.limit = purse.limit;
    if (!known.began) known.began = purse.began ? purse.began : wall();
    for (const auto& [id, spent] : purse.members) raise(known.members[id], spent);
    known.at_work.insert(live->id);
  }
}

// What the task has used by now. It is ended over what it uses itself, or where it begins: not because it hears of
// somebody else.
void EngineImpl::spend(const LivePtr& live, bool begins) {
  const Task& task = *live->task;
  for (const TaskId& payer : payers_of(task)) {
    const auto found = purses_.find(payer);
    if (found == purses_.end()) continue;  // Nobody of it has begun a turn under this server: its first one reads it.
    Purse& purse = found->second;
    const bool more = raise(purse.members[task.id], spent_by(task));
    if (at_work(task.state)) {
      purse.at_work.insert(task.id);
      if ((more || begins) && task.phase == TurnPhase::working && !task.stopping && live->overrun != task.run)
        if (std::optional<TaskError> over = over_budget(purse)) {
          live->overrun = task.run;
          submit(live, {.input = input::Overrun{task.run, std::move(*over)}});
        }
      continue;
    }
    purse.at_work.erase(task.id);
    if (purse.at_work.empty()) purses_.erase(found);
  }
}

void EngineImpl::arm_budget(const LivePtr& live) {
  const int run = live->task->run;
  std::optional<Millis> left;
  Millis limit = 0;
  for (const TaskId& payer : payers_of(*live->task)) {
    const auto purse = purses_.find(payer);
    if (purse == purses_.end() || purse->second.limit.wall_ms <= 0) continue;
    const Millis wall_left = purse->second.began + purse->second.limit.wall_ms - wall();
    if (left && *left <= wall_left) continue;
    left = wall_left;
    limit = purse->second.limit.wall_ms;
  }
  if (!left) return;
  live->budget_timer = timers_.add(std::max<Millis>(*left, 0), [this, live, run, limit] {
    live->budget_timer = 0;
    submit(live, {.input = input::Overrun{
                      run,
                      {"budget", fmt::format("It was ended after the {} of its budget.", format_duration(limit)),
                       fmt::format(R"({{"budget":"wall_s","limit":{}}})", static_cast<double>(limit) / 1000)}}});
  });
}

}  // namespace errand
