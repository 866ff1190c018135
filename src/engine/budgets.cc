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

std::vector<TaskId> payers_of(const Task& task) {
  std::vector<TaskId> payers = task.launch.payers;
  if (task.launch.budget != Budget{}) payers.insert(payers.begin(), task.id);
  return payers;
}

// What is counted, as people say it.
std::string_view in_words(std::string_view what) {
  if (what == "cost_usd") return "USD";
  if (what == "tool_calls") return "tool calls";
  return what == "wall_s" ? "seconds" : what;
}

TaskError exceeded(const Purse& purse, std::string_view what, const std::string& used, const std::string& limit) {
  const bool shared = purse.members.size() > 1;
  return {"budget",
          fmt::format("The budget of {} {} is used up ({} used{}). Retry with a larger budget, or in smaller steps.",
                      limit, in_words(what), used, shared ? ", by all tasks that share it" : ""),
          fmt::format(R"({{"budget":"{}","limit":{},"used":{}}})", what, limit, used)};
}

// All that was used under one payer: its own and its descendants'.
Status add_members(Store& store, const Task& task, Purse& purse, size_t depth) {
  purse.raise(task.id, spent_by(task));
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

bool Purse::raise(const TaskId& member, const Spent& now) {
  bool more = false;
  const auto raise_one = [&](auto& known, auto& total, auto to) {
    if (to <= known) return;
    total += to - known;
    known = to;
    more = true;
  };
  Spent& known = members[member];
  raise_one(known.tokens, all.tokens, now.tokens);
  raise_one(known.cost_usd, all.cost_usd, now.cost_usd);
  raise_one(known.turns, all.turns, now.turns);
  raise_one(known.tool_calls, all.tool_calls, now.tool_calls);
  return more;
}

std::optional<TaskError> over_budget(const Purse& purse) {
  const Purse::Spent& all = purse.all;
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

Result<std::vector<Purse>> read_purses(Store& store, const std::vector<TaskId>& payers) {
  std::vector<Purse> purses;
  for (const TaskId& id : payers) {
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

// Whose purse is to be read before a turn of this task begins. One that is known is followed for as long as somebody of
// it is at work, and has all its members: reading them for each of ten thousand siblings would be a hundred million
// reads.
std::vector<TaskId> EngineImpl::unread_payers(const LivePtr& live) {
  std::vector<TaskId> unread;
  for (TaskId& payer : payers_of(*live->task)) {
    const auto known = purses_.find(payer);
    if (known == purses_.end())
      unread.push_back(std::move(payer));
    else
      known->second.at_work.insert(live->id);
  }
  return unread;
}

void EngineImpl::open_purses(const LivePtr& live, std::vector<Purse> read) {
  for (Purse& purse : read) {
    Purse& known = purses_.try_emplace(purse.payer, Purse{.payer = purse.payer}).first->second;
    known.limit = purse.limit;
    if (!known.began) known.began = purse.began ? purse.began : wall();
    for (const auto& [id, spent] : purse.members) known.raise(id, spent);
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
    const bool more = purse.raise(task.id, spent_by(task));
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
